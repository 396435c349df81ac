import type { RequestContext } from '../../../contract/plugin/context.ts';
import { GatewayError } from '../../../contract/values/errors.ts';
import type { JsonObject } from '../../../contract/values/json.ts';
import { encodeSteps } from './encode-steps.ts';
import { parseSteps } from './parse-steps.ts';

/**
 * Parses a JSON body of more than `stepBytes`, one step per turn of the event loop. Returns null if it is not an object. Throws
 * `JsonStepError` for invalid JSON and `client_closed` if the client disconnects.
 */
export function parseLarge(ctx: RequestContext, body: Uint8Array): Promise<JsonObject | null> {
  return inTurns(ctx, parseSteps(body));
}

/** Writes JSON of about `lengthHint` bytes, one step per turn. Counts the bytes against BODY_MEMORY_MAX. Throws as `parseLarge` does. */
export async function encodeLarge(ctx: RequestContext, value: JsonObject, lengthHint: number): Promise<Uint8Array> {
  holdCopy(ctx, lengthHint);
  const bytes = await inTurns(ctx, encodeSteps(value, lengthHint));
  holdCopy(ctx, bytes.length);
  return bytes;
}

async function inTurns<Result>(ctx: RequestContext, steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    await ctx.memory?.turn();
    if (ctx.aborted) throw new GatewayError('client_closed');
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Counts a written copy of a body. The copy of an earlier attempt is garbage by then, so only growth is counted. */
function holdCopy(ctx: RequestContext, bytes: number): void {
  if (bytes <= ctx.copyBytes) return;
  ctx.holdBytes(bytes - ctx.copyBytes);
  ctx.copyBytes = bytes;
}
