import { type ParseError, parse as parseLenient, printParseErrorCode } from 'jsonc-parser';
import type { RequestContext } from '../contract/context.ts';
import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/json.ts';
import { checkJsonLimits } from './json-limits.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses the body of a shaped route into `ctx.body`, `ctx.params`, `ctx.model` and `ctx.stream`. Throws
 * `bad_request` for another content type or JSON beyond its limits, `invalid_json` with the position of the fault, `body_too_large`.
 */
export async function readParams(ctx: RequestContext, bytesMax: number): Promise<void> {
  const type = ctx.request.header('content-type');
  if (type !== undefined && type !== 'application/json' && !/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
    throw new GatewayError('bad_request', {
      message: `content-type must be application/json on this route, not ${type.slice(0, 100)}`,
      param: 'content-type',
    });
  }
  ctx.body = await ctx.request.body.bytes(bytesMax);
  ctx.requestBytes = ctx.body.length;
  const params = parseBody(ctx.body);
  checkJsonLimits(params, ctx.body.length);
  ctx.params = params;
  ctx.model = typeof params.model === 'string' ? params.model : null;
  ctx.stream = params.stream === true;
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
    throw new GatewayError('invalid_json', { message: `The body is not valid JSON: ${faultOf(text)}` });
  }
  if (!isObject(value)) {
    throw new GatewayError('invalid_json', {
      message: `The body must be a JSON object, not ${Array.isArray(value) ? 'an array' : `a ${value === null ? 'null' : typeof value}`}`,
    });
  }
  return value;
}

/** Where and why. V8 leaves the position out of some of its messages, so a parser that knows it looks again. */
function faultOf(text: string): string {
  const errors: ParseError[] = [];
  parseLenient(text, errors, { allowEmptyContent: false, disallowComments: true, allowTrailingComma: false });
  const first = errors[0];
  if (!first) return 'it cannot be read';
  const before = text.slice(0, first.offset);
  const line = before.split('\n').length;
  const column = first.offset - before.lastIndexOf('\n');
  return `${printParseErrorCode(first.error)} at position ${first.offset} (line ${line}, column ${column})`;
}
