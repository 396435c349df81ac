import type { RequestContext } from '../contract/context.ts';
import { isPromise } from '../contract/json.ts';
import { readBytes } from './read-body.ts';
import type { ResolvedTarget, ResolveTarget } from './resolve-target.ts';

/**
 * The resolver, with pass-through bodies read whole where the provider's adapter has to see them: a signature covers the body. Rejects
 * with `body_too_large` beyond `bytesMax`.
 */
export function withHeldProxyBodies(resolve: ResolveTarget, bytesMax: number): ResolveTarget {
  return (ctx, target) => {
    const found = resolve(ctx, target);
    if (ctx.endpoint?.operation !== null || ctx.body !== null || ctx.bodyTaken || ctx.request.body.length === 0) return found;
    if (isPromise(found)) return found.then((resolved) => hold(ctx, resolved, bytesMax));
    return found.adapter.buffersProxyBodies?.(found.settings, found.credentials) ? hold(ctx, found, bytesMax) : found;
  };
}

async function hold(ctx: RequestContext, resolved: ResolvedTarget, bytesMax: number): Promise<ResolvedTarget> {
  if (resolved.adapter.buffersProxyBodies?.(resolved.settings, resolved.credentials)) ctx.body = await readBytes(ctx, bytesMax);
  return resolved;
}
