import type { RequestContext } from '../../contract/plugin/context.ts';

/** Counts bytes that are held for this request until its end. Throws GatewayError `overloaded` if the process holds too many. */
export function holdBytes(ctx: RequestContext, bytes: number): void {
  if (ctx.memory === null || ctx.ended) return;
  ctx.memory.take(bytes);
  ctx.heldBytes += bytes;
}

/** Releases all bytes of this request. Safe to call again. */
export function releaseBytes(ctx: RequestContext): void {
  if (ctx.heldBytes === 0) return;
  ctx.memory?.give(ctx.heldBytes);
  ctx.heldBytes = 0;
}
