import type { RequestContext } from '../../contract/plugin/context.ts';
import { holdBytes } from './hold-bytes.ts';
import { formHeadBytes, formType, jsonType, type PassedFacts, readHeldBody } from './passed-request.ts';
import { peekBody } from './peek-body.ts';
import { type BodyLimits, readBytes } from './read-body.ts';

/** True for callers with a budget or rate limit: what their requests may use is reserved before the call. */
export function isLimited({ identity, workspace }: RequestContext): boolean {
  if (identity?.limits || identity?.rejectUnmetered) return true;
  return Boolean(workspace?.usageLimits?.length || workspace?.rateLimits?.length || workspace?.rejectUnmetered);
}

/**
 * Reads as much of a pass-through body before the call as its price depends on: JSON of at most `jsonBytesMax` whole, forms as far as
 * their text fields reach. Larger JSON is reserved by its size. Rejects with what the body fails with, `body_too_large` for chunked
 * JSON beyond `jsonBytesMax`, or `overloaded`.
 */
export async function holdForLimits(ctx: RequestContext, limits: BodyLimits): Promise<void> {
  const { body } = ctx.request;
  if (ctx.body !== null || ctx.peekedBody !== null || ctx.bodyTaken || body.length === 0) return;
  const type = ctx.request.header('content-type') ?? 'application/json';
  if (jsonType.test(type) && body.length <= limits.jsonBytesMax) {
    ctx.body = await readBytes(ctx, limits.jsonBytesMax);
    readHeldBody(ctx);
  } else if (formType.test(type)) {
    const peeked = await peekBody(body, formHeadBytes, limits.streamedBytesMax, (bytes) => holdBytes(ctx, bytes));
    if (peeked.isWhole) {
      ctx.body = peeked.head;
      ctx.requestBytes = peeked.head.length;
      readHeldBody(ctx);
    } else {
      (ctx.passed as PassedFacts).push(peeked.head);
      ctx.peekedBody = peeked.from(peeked.head);
    }
  }
}
