import type { RequestContext } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import type { Maybe } from '../../contract/values/json.ts';
import type { Answer } from '../answer.ts';
import type { ResolvedTarget } from './build-target.ts';

/** Returns true for the statuses with which a provider refuses a credential. */
export function isRefusal(status: number): boolean {
  return status === 401 || status === 403;
}

/**
 * Reads a credential from its secret manager again after the provider has refused it. Returns the target with the new credential
 * for one more attempt. Null if the credential has not changed, or if the request cannot be sent again.
 */
export async function renewCredential(
  ctx: RequestContext,
  answer: Answer,
  renew: () => Promise<boolean>,
  resolve: () => Maybe<ResolvedTarget | GatewayError>,
): Promise<ResolvedTarget | null> {
  if (ctx.aborted || !isRefused(ctx, answer)) return null;
  const renewing = renew();
  const isOver = answer.kind === 'streamed' || ctx.bodyTaken;
  if (isOver || !(await renewing) || ctx.aborted) return null;
  try {
    const found = await resolve();
    return found instanceof GatewayError ? null : found;
  } catch {
    // The provider was changed or deleted in the meantime: its response is final, and the call of its target ends as usual.
    return null;
  }
}

/** Returns true if the provider itself refused, not a plugin or the gateway. */
function isRefused(ctx: RequestContext, answer: Answer): boolean {
  if (answer.kind === 'replaced' || (answer.kind === 'error' && answer.error.source !== 'upstream')) return false;
  return isRefusal(ctx.attempts.at(-1)?.status ?? 0);
}
