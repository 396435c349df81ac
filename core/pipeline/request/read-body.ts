import { type ParseError, parse as parseLenient, printParseErrorCode } from 'jsonc-parser';
import type { RequestContext } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { holdBytes } from './hold-bytes.ts';
import { harmlessBytes, JsonLimits } from './json-limits.ts';
import { stepBytes } from './large-json/json-steps.ts';
import { parseLarge } from './large-json/large-json.ts';
import { JsonStepError } from './large-json/parse-steps.ts';
import { readForm } from './read-form.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Bytes up to which bodies are read whole, by kind; above `formBytesMax` a form streams through. */
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
    ctx.params = {};
    return;
  }
  const type = ctx.request.header('content-type');
  if (kind !== 'json' && type !== undefined && /^multipart\/form-data\b/i.test(type)) return readForm(ctx, type, limits);
  const isJson = type === undefined || type === 'application/json' || /^application\/([\w.+-]+\+)?json\b/i.test(type);
  if (!isJson || kind === 'form') throw wrongType(type, kind);
  const counted = new JsonLimits(limits.jsonValuesMax);
  const isSmall = ctx.request.body.length >= 0 && ctx.request.body.length <= harmlessBytes;
  ctx.body = await readBytes(ctx, limits.jsonBytesMax, isSmall ? undefined : (chunk) => counted.push(chunk));
  if (!isSmall) holdBytes(ctx, counted.heapBytes);
  const params = ctx.body.length > stepBytes ? await parseLargeBody(ctx, ctx.body) : parseBody(ctx.body);
  ctx.params = params;
  ctx.model = typeof params.model === 'string' ? params.model : null;
  ctx.stream = params.stream === true || params.stream_format === 'sse';
}

/** Reads the whole body and counts it against BODY_MEMORY_MAX. */
export async function readBytes(
  ctx: RequestContext,
  bytesMax: number,
  onChunk?: (chunk: Uint8Array) => void,
): Promise<Uint8Array> {
  const body = await ctx.request.body.bytes(bytesMax, (bytes) => holdBytes(ctx, bytes), onChunk);
  ctx.requestBytes = body.length;
  return body;
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
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    throw new GatewayError('invalid_json', { message: 'The body is not valid UTF-8' });
  }
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
  try {
    const params = await parseLarge(ctx, body);
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
  return `${printParseErrorCode(first.error)} at position ${first.offset} (line ${line}, column ${column})`;
}
