import type { RequestContext } from '../../core/contract/context.ts';
import { GatewayError } from '../../core/contract/errors.ts';
import { headerText } from '../../core/contract/http.ts';
import { isObject } from '../../core/contract/json.ts';

const valueLengthMax = 128;
const keysMax = 50;

/**
 * `x-svc-metadata` under the metadata of the key, which wins (semantics §3). `_user` is filled from the body's `user` when
 * nobody gave one. Throws `bad_request` naming the header for anything but a flat object of short strings.
 */
export function readMetadata(ctx: RequestContext): Readonly<Record<string, string>> {
  const header = ctx.gatewayHeaders.get('metadata');
  const own = ctx.identity?.defaults.metadata;
  const user = ctx.params?.user;
  if (header === undefined && typeof user !== 'string') return own ?? {};
  const metadata: Record<string, string> = header === undefined ? {} : parseMetadata(header);
  Object.assign(metadata, own);
  if (typeof user === 'string' && metadata._user === undefined) metadata._user = user.slice(0, valueLengthMax);
  return metadata;
}

function parseMetadata(header: string): Record<string, string> {
  let value: unknown;
  try {
    value = JSON.parse(headerText(header));
  } catch {
    throw fault('it must be a JSON object');
  }
  if (!isObject(value)) throw fault('it must be a JSON object');
  const entries = Object.entries(value);
  if (entries.length > keysMax) throw fault(`it holds at most ${keysMax} keys`);
  const metadata: Record<string, string> = Object.create(null);
  for (const [key, item] of entries) {
    if (typeof item !== 'string') throw fault(`${key} must be a string`);
    if (item.length > valueLengthMax) throw fault(`${key} is longer than ${valueLengthMax} characters`);
    metadata[key] = item;
  }
  return metadata;
}

function fault(text: string): GatewayError {
  return new GatewayError('bad_request', { message: `Invalid metadata passed: ${text}`, param: 'x-svc-metadata' });
}
