import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';

/** Throws `forbidden` when the caller has none of the route's scopes. */
export function requireScope(ctx: RequestContext): void {
  const needed = ctx.endpoint?.scopes ?? [];
  if (needed.length === 0) return;
  const scopes = ctx.identity?.scopes;
  for (const scope of needed) if (scopes?.has(scope)) return;
  const what = ctx.token === null ? 'key' : 'token';
  throw new GatewayError('forbidden', { message: `Forbidden! The ${what} needs the scope ${needed.join(' or ')}` });
}
