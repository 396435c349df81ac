import type { RequestContext } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import { isPromise } from '../../contract/values/json.ts';
import { checkJsonLimits } from '../request/json-limits.ts';
import { holdForLimits, readHeldBody } from '../request/passed-request.ts';
import { type BodyLimits, readBytes } from '../request/read-body.ts';
import type { ResolvedTarget, ResolveTarget } from './resolve-target.ts';

/**
 * Wraps the resolver so that pass-through bodies are read whole if required: by an adapter whose signature covers the body, by
 * the check of models, or by a size limit of the provider. Rejects with `body_too_large` beyond `jsonBytesMax`.
 */
export function withHeldProxyBodies(resolve: ResolveTarget, limits: BodyLimits): ResolveTarget {
  return (ctx, target) => {
    const found = resolve(ctx, target);
    if (ctx.endpoint?.operation !== null || ctx.body !== null || ctx.bodyTaken || ctx.request.body.length === 0) return found;
    if (isPromise(found)) return found.then((resolved) => hold(ctx, resolved, limits));
    return mustHold(ctx, found) || found.isLimited ? hold(ctx, found, limits) : found;
  };
}

async function hold(ctx: RequestContext, resolved: ResolvedTarget, limits: BodyLimits): Promise<ResolvedTarget> {
  if (!mustHold(ctx, resolved)) {
    if (resolved.isLimited && ctx.passed) await holdForLimits(ctx, limits);
    return resolved;
  }
  // Routing by parameters has already read the beginning, and the body was too long.
  if (ctx.peekedBody !== null) throw new GatewayError('body_too_large');
  ctx.body = await readBytes(ctx, limits.jsonBytesMax);
  // The check of models parses the body.
  if (resolved.ofModel) checkJsonLimits(ctx.body, limits.jsonValuesMax);
  readHeldBody(ctx);
  return resolved;
}

function mustHold(ctx: RequestContext, { adapter, settings, credentials, ofModel }: ResolvedTarget): boolean {
  if (adapter.buffersProxyBodies?.(settings, credentials)) return true;
  // Uploaded files name no model, and may be large.
  return Boolean(ofModel) && !/^\/(?:files|uploads)(?:\/|$)/.test(ctx.endpoint?.proxyPath ?? '');
}
