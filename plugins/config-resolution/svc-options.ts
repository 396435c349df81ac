import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { holdsCredential } from '../../core/contract/values/credentials/api-key.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { isObject } from '../../core/contract/values/json/json.ts';

/** Options about the caller and the trace. They are fixed before the body is read. */
const settled: ReadonlySet<string> = new Set(['api-key', 'trace-id']);

const valueLengthMax = 16_384;

/**
 * Reads `svc_options` of a batch or fine-tuning job: the gateway's headers by name, with or without prefix, with `-` or `_`. They
 * have the effect of request headers and replace them. They are removed from the parameters, because they may hold credentials. Throws
 * `bad_request` naming `svc_options.<name>`.
 */
export function adoptSvcOptions(ctx: RequestContext, prefixes: readonly string[]): void {
  const { svc_options: given, ...params } = ctx.params ?? {};
  if (given === undefined || given === null) return;
  if (!isObject(given)) throw issue('', 'expected an object of headers');
  const headers = new Map(ctx.gatewayHeaders);
  const names = new Set<string>();
  for (const [key, value] of Object.entries(given)) {
    const name = nameOf(key, prefixes);
    if (settled.has(name)) throw issue(`.${name}`, 'not allowed in svc_options. Send it as a header of the request');
    headers.set(name, textOf(ctx, name, value));
    names.add(name);
  }
  ctx.gatewayHeaders = headers;
  ctx.svcOptions = names;
  ctx.replaceMembers(params);
}

function nameOf(key: string, prefixes: readonly string[]): string {
  const lower = key.toLowerCase().replaceAll('_', '-');
  const name = lower.slice(prefixes.find((prefix) => lower.startsWith(prefix))?.length ?? 0);
  if (/^[a-z0-9-]{1,64}$/.test(name)) return name;
  throw issue(`.${key.slice(0, 64)}`, 'expected the name of a header');
}

function textOf(ctx: RequestContext, name: string, value: unknown): string {
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (!isText && !isObject(value)) throw issue(`.${name}`, 'expected the value of a header');
  const text = isText ? String(value) : JSON.stringify(value);
  // Applies the rules for header values, because this value was not a header.
  if (text.length > valueLengthMax || /[\0-\x08\n-\x1f\x7f]/.test(text))
    throw issue(`.${name}`, 'expected the value of a header');
  if (holdsCredential(text, ctx.token))
    throw issue(`.${name}`, 'contains a credential of this request. Remove it here and send it as a header');
  // Headers are bytes. Readers expect other characters as UTF-8 decoded as latin1.
  return Buffer.from(text, 'utf8').toString('latin1');
}

function issue(path: string, expected: string): GatewayError {
  const param = `svc_options${path}`;
  return new GatewayError('bad_request', { message: `${param}: ${expected}`, param });
}
