import type { RequestContext } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { checkJsonLimits } from '../request/json-limits.ts';
import { holdForLimits, readHeldBody } from '../request/passed-request.ts';
import type { BodyLimits } from '../request/read-body.ts';
import type { ResolvedTarget } from './build-target.ts';

/**
 * Returns true if the pass-through body must be read whole before the call: for an adapter whose signature covers it, for the check
 * of models, or for a size limit of the provider.
 */
export function holdsProxyBody(ctx: RequestContext, resolved: ResolvedTarget): boolean {
  if (ctx.endpoint?.operation !== null || ctx.body !== null || ctx.bodyTaken || ctx.request.body.length === 0) return false;
  return isReadWhole(ctx, resolved) || Boolean(resolved.isLimited && ctx.passed);
}

/** Reads the pass-through body and returns the target. Rejects with `body_too_large` beyond `jsonBytesMax`. */
export async function holdProxyBody(ctx: RequestContext, resolved: ResolvedTarget, limits: BodyLimits): Promise<ResolvedTarget> {
  if (!isReadWhole(ctx, resolved)) {
    await holdForLimits(ctx, limits);
    return resolved;
  }
  // Routing by parameters has already read the beginning, and the body was too long.
  if (ctx.peekedBody !== null) throw new GatewayError('body_too_large');
  ctx.body = await ctx.readBytes(limits.jsonBytesMax);
  // The check of models parses the body.
  if (resolved.ofModel) checkJsonLimits(ctx.body, limits.jsonValuesMax);
  readHeldBody(ctx);
  return resolved;
}

function isReadWhole(ctx: RequestContext, { adapter, settings, credentials, ofModel }: ResolvedTarget): boolean {
  if (adapter.buffersProxyBodies?.(settings, credentials)) return true;
  // Uploaded files name no model, and may be large.
  return Boolean(ofModel) && !/^\/(?:files|uploads)(?:\/|$)/.test(ctx.endpoint?.proxyPath ?? '');
}
