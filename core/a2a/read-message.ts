import type { RequestContext } from '../contract/plugin/context.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { hasDuplicateKeys } from '../contract/values/json/duplicate-keys.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { unmarkedTextOf } from '../contract/values/text/utf8.ts';
import { JsonLimits } from '../pipeline/request/json-limits.ts';
import type { BodyLimits } from '../pipeline/request/read-body.ts';
import { spellingIssue } from './other-spellings.ts';

/** Maximum length of a message of a client in bytes. Files are part of messages. */
const requestBytesMax = 16 * 1024 * 1024;

/** Reads the body of a request. Returns null for JSON that is a list. Throws GatewayError `invalid_json`, `body_too_large`, `bad_request`. */
export async function readMessage(ctx: RequestContext, limits: BodyLimits): Promise<JsonObject | null> {
  // A small body has been read already.
  const body = ctx.body ?? (await ctx.readBytes(Math.min(requestBytesMax, limits.jsonBytesMax)));
  ctx.body = body;
  const counted = new JsonLimits(limits.jsonValuesMax);
  counted.push(body);
  ctx.holdBytes(counted.heapBytes);
  const { text, value } = parse(body);
  if (Array.isArray(value)) return null;
  if (!isObject(value)) throw new GatewayError('invalid_json', { message: 'The body must be a JSON object' });
  // The gateway would check one of the values, and the agent could use the other.
  if (hasDuplicateKeys(text, value)) {
    throw new GatewayError('invalid_json', { message: 'The body has an object with the same key twice. Send each key once' });
  }
  const issue = spellingIssue(value);
  if (issue === null) return value;
  throw new GatewayError('bad_request', { message: issue });
}

function parse(body: Uint8Array): { text: string; value: unknown } {
  const text = unmarkedTextOf(body);
  try {
    if (text !== null) return { text, value: JSON.parse(text) };
  } catch {}
  throw new GatewayError('invalid_json', { message: 'The body is not valid JSON in UTF-8' });
}
