import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { audioSecondsMax } from '../../core/contract/values/models/usage.ts';

/** Returns the error in the value of a header. Null if there is none. */
type Rule = (value: string) => string | null;

/** Headers of the reference that set an option of a single request, by name without prefix. */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['debug', isFlag],
  ['cache', cacheMode],
  ['cache-force-refresh', isFlag],
  ['nitro-mode', absent('Replies stream without it. Use /v1/proxy/… to pass a body through unparsed')],
  ['ignore-service-log', absent('Budgets and costs are settled by records, so every request has one')],
  // Prompts are always current.
  ['refresh-prompt-cache', isFlag],
  ['gateway-transport', () => 'This version calls providers over HTTP only. Leave the header out'],
  ['sensitive-headers', headerNames],
  ['audio-file-duration', seconds],
]);

/**
 * Rejects options that have no effect here, so that no caller relies on them. Throws `bad_request` that names the header.
 * `sensitive-headers` masks headers in stored contents: see `CapturedContent`.
 */
export function checkRequestOptions(ctx: RequestContext): void {
  for (const [name, value] of ctx.gatewayHeaders) {
    // Clients send an empty value for an option that is not set.
    const wrong = value === '' ? null : (rules.get(name)?.(value) ?? null);
    if (wrong === null) continue;
    const param = `${ctx.headerPrefix}${name}`;
    throw new GatewayError('bad_request', { message: `${param}: ${wrong}`, param });
  }
}

/** Returns the cache that `x-svc-cache` turns on for a config that has none. */
export function askedCacheMode(ctx: RequestContext): 'simple' | 'semantic' | null {
  const mode = ctx.gatewayHeaders.get('cache');
  if (mode === 'semantic') return 'semantic';
  return mode === 'simple' || mode === 'true' ? 'simple' : null;
}

function isFlag(value: string): string | null {
  return value === 'true' || value === 'false' ? null : 'Expected true or false';
}

/** A flag that may only be off. */
function absent(why: string): Rule {
  return (value) => (value === 'false' ? null : `${isFlag(value) ?? `This option is not part of this version. ${why}`}`);
}

function cacheMode(value: string): string | null {
  return /^(?:simple|semantic|true|false)$/.test(value) ? null : 'Expected simple, semantic, true or false';
}

function seconds(value: string): string | null {
  return Number(value) >= 0 && Number(value) <= audioSecondsMax ? null : `Expected seconds from 0 to ${audioSecondsMax}`;
}

function headerNames(value: string): string | null {
  return /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/.test(value.trim())
    ? null
    : 'Expected names of headers, separated by commas';
}
