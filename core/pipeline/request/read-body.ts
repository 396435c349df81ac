import { type ParseError, parse as parseLenient } from 'jsonc-parser';
import type { RequestContext } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isJsonType, isMultipartForm } from '../../contract/values/http/media-types.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { jsonSyntaxText } from '../../contract/values/json/json-syntax.ts';
import { onceWork, stepBytes } from '../../contract/values/large-json/json-steps.ts';
import { JsonStepError, parseSteps } from '../../contract/values/large-json/parse-steps.ts';
import { unmarkedTextOf } from '../../contract/values/text/utf8.ts';
import { asksForStream } from './asks-for-stream.ts';
import { fieldsInHead, formHeadBytes, formStepBytes, paramSteps, paramsOfForm, parseForm } from './form-data.ts';
import { harmlessBytes, JsonLimits } from './json-limits.ts';
import { peekBody } from './peek-body.ts';

/** Maximum size of bodies that are read whole, by kind. A form above `formBytesMax` is streamed. */
export interface BodyLimits {
  readonly jsonBytesMax: number;
  readonly formBytesMax: number;
  readonly streamedBytesMax: number;
  /** Values in one JSON body; an object or array counts as five. */
  readonly jsonValuesMax: number;
}

/**
 * Reads the body of a shaped route, as its endpoint declares, into `ctx.body`, `ctx.params`, `ctx.form`, `ctx.model` and `ctx.stream`.
 * Throws `bad_request` for another content type, JSON beyond its limits or a form that cannot be read, `invalid_json` with the
 * position of the syntax error, `body_too_large`, `overloaded`.
 */
export async function readParams(ctx: RequestContext, limits: BodyLimits): Promise<void> {
  const kind = ctx.endpoint?.body ?? 'json';
  if (kind === 'none' || kind === 'stream') {
    ctx.setParams({});
    return;
  }
  const type = ctx.request.header('content-type');
  if (kind !== 'json' && type !== undefined && isMultipartForm(type)) return readForm(ctx, type, limits);
  const isJson = type === undefined || isJsonType(type);
  if (!isJson || kind === 'form') throw wrongType(type, kind);
  const counted = new JsonLimits(limits.jsonValuesMax);
  const isSmall = ctx.request.body.length >= 0 && ctx.request.body.length <= harmlessBytes;
  const onChunk = isSmall ? undefined : (chunk: Uint8Array) => counted.push(chunk);
  ctx.body = await ctx.readBytes(limits.jsonBytesMax, onChunk);
  if (!isSmall) ctx.holdBytes(counted.heapBytes);
  ctx.needsSteps = counted.work > onceWork;
  const isShort = ctx.body.length <= stepBytes;
  const params = isShort && !ctx.needsSteps ? parseBody(ctx.body) : await parseLargeBody(ctx, ctx.body);
  ctx.setParams(params);
  if (!isSmall && counted.ranges !== null) ctx.bodyLayout = { bytes: ctx.body, parsed: params, ranges: counted.ranges };
  ctx.stream = asksForStream(params, false);
}

/**
 * Reads a form. Up to `formBytesMax` it is held, so that its model can decide about the target and a second target can get it. A larger
 * one is streamed once, and only the fields before its first large file are known.
 */
async function readForm(ctx: RequestContext, contentType: string, limits: BodyLimits): Promise<void> {
  const { body } = ctx.request;
  const keep = body.length <= limits.formBytesMax;
  if (keep && body.length >= 0) {
    ctx.body = await ctx.readBytes(limits.formBytesMax);
    return takeWhole(ctx, ctx.body, contentType);
  }
  // If the form does not declare its length, read as much as could be stored.
  const peeked = await peekBody(body, keep ? limits.formBytesMax : formHeadBytes, limits.streamedBytesMax, (bytes) =>
    ctx.holdBytes(bytes),
  );
  if (peeked.isWhole) {
    ctx.body = peeked.head;
    return takeWhole(ctx, ctx.body, contentType);
  }
  takeParams(ctx, paramsOfForm(await fieldsInHead(peeked.head.subarray(0, formHeadBytes), contentType)));
  const sent = ctx.model;
  // A slug in the model names a stored provider, not the upstream's model, so it is removed.
  ctx.streamedForm = {
    body: (model) =>
      peeked.from(sent === null || model === null || model === sent ? peeked.head : renamed(peeked.head, sent, model)),
  };
}

async function takeWhole(ctx: RequestContext, body: Uint8Array, contentType: string): Promise<void> {
  ctx.requestBytes = body.length;
  ctx.needsSteps = body.length > stepBytes;
  // The parser copies large files, and fields become texts.
  ctx.holdBytes(body.length);
  const form = await parseForm(body, contentType, (steps) => ctx.inTurns(steps));
  takeParams(ctx, body.length > formStepBytes ? await ctx.inTurns(paramSteps(form)) : paramsOfForm(form));
  ctx.form = form;
}

/** The same bytes with another value in the field `model`. */
function renamed(head: Uint8Array, sent: string, model: string): Uint8Array {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const found = /^content-disposition:[^\r\n]*;[ \t]*name="?model"?(?=[;\r \t]).*?\r\n\r\n/ims.exec(bytes.toString('latin1'));
  if (!found) throw new GatewayError('internal', { detail: 'the model of a form was read but not found again' });
  const from = found.index + found[0].length;
  return Buffer.concat([bytes.subarray(0, from), Buffer.from(model), bytes.subarray(from + Buffer.byteLength(sent))]);
}

function takeParams(ctx: RequestContext, params: JsonObject): void {
  ctx.setParams(params);
  ctx.stream = asksForStream(params, true);
}

function wrongType(type: string | undefined, kind: 'json' | 'form' | 'json-or-form'): GatewayError {
  const expected = {
    json: 'application/json',
    form: 'multipart/form-data',
    'json-or-form': 'application/json or multipart/form-data',
  };
  return new GatewayError('bad_request', {
    message: `content-type must be ${expected[kind]} on this route, not ${type?.slice(0, 100) ?? 'absent'}`,
    param: 'content-type',
  });
}

function parseBody(body: Uint8Array): Record<string, unknown> {
  const text = unmarkedTextOf(body);
  if (text === null) throw new GatewayError('invalid_json', { message: 'The body is not valid UTF-8' });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new GatewayError('invalid_json', { message: `The body is not valid JSON: ${syntaxErrorOf(text)}` });
  }
  if (!isObject(value)) {
    throw new GatewayError('invalid_json', {
      message: `The body must be a JSON object, not ${Array.isArray(value) ? 'an array' : `a ${value === null ? 'null' : typeof value}`}`,
    });
  }
  return value;
}

async function parseLargeBody(ctx: RequestContext, body: Uint8Array): Promise<JsonObject> {
  if (!ctx.needsSteps) {
    // Hundreds of such bodies can arrive in one turn of the event loop: 200 of 66 KB blocked a process for over half a second.
    await ctx.memory?.turn();
    return parseBody(body);
  }
  try {
    const params = await ctx.inTurns(parseSteps(body));
    if (params !== null) return params;
  } catch (thrown) {
    if (!(thrown instanceof JsonStepError)) throw thrown;
    throw new GatewayError('invalid_json', { message: `The body is not valid JSON: ${thrown.message}` });
  }
  throw new GatewayError('invalid_json', { message: 'The body must be a JSON object' });
}

/** Returns the reason and position of a syntax error. V8 omits the position in some messages, so a second parser finds it. */
function syntaxErrorOf(text: string): string {
  const errors: ParseError[] = [];
  parseLenient(text, errors, { allowEmptyContent: false, disallowComments: true, allowTrailingComma: false });
  const first = errors[0];
  if (!first) return 'it cannot be read';
  const before = text.slice(0, first.offset);
  const line = before.split('\n').length;
  const column = first.offset - before.lastIndexOf('\n');
  return `${jsonSyntaxText(first.error, first.offset, text.length)} at position ${first.offset} (line ${line}, column ${column})`;
}
