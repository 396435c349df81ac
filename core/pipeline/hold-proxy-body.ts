import type { RequestContext } from '../contract/context.ts';
import { GatewayError } from '../contract/errors.ts';
import { isPromise } from '../contract/json.ts';
import { readBytes } from './read-body.ts';
import type { ResolvedTarget, ResolveTarget } from './resolve-target.ts';

/**
 * The resolver, with pass-through bodies read whole where somebody has to see them: the provider's adapter, whose signature covers the
 * body, or the check of models. Rejects with `body_too_large` beyond `bytesMax`.
 */
export function withHeldProxyBodies(resolve: ResolveTarget, bytesMax: number): ResolveTarget {
  return (ctx, target) => {
    const found = resolve(ctx, target);
    if (ctx.endpoint?.operation !== null || ctx.body !== null || ctx.bodyTaken || ctx.request.body.length === 0) return found;
    if (isPromise(found)) return found.then((resolved) => hold(ctx, resolved, bytesMax));
    return mustHold(ctx, found) ? hold(ctx, found, bytesMax) : found;
  };
}

async function hold(ctx: RequestContext, resolved: ResolvedTarget, bytesMax: number): Promise<ResolvedTarget> {
  if (!mustHold(ctx, resolved)) return resolved;
  // Routing by parameters has read the beginning, and it was too long for that already.
  if (ctx.peekedBody !== null) throw new GatewayError('body_too_large');
  ctx.body = await readBytes(ctx, bytesMax);
  return resolved;
}

function mustHold(ctx: RequestContext, { adapter, settings, credentials, ofModel }: ResolvedTarget): boolean {
  if (adapter.buffersProxyBodies?.(settings, credentials)) return true;
  // Files name no model, and may be large.
  return Boolean(ofModel) && !/^\/(?:files|uploads)(?:\/|$)/.test(ctx.endpoint?.proxyPath ?? '');
}
