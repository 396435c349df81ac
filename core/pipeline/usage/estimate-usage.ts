import type { RequestContext } from '../../contract/plugin/context.ts';
import type { CoreServices } from '../../contract/plugin/core-plugin.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { promptTexts, textsBelow } from '../../contract/values/prompt-text.ts';
import { emptyUsage, type Usage } from '../../contract/values/usage.ts';

/** Operations whose replies consist of tokens. */
const estimated: ReadonlySet<string> = new Set(['chatComplete', 'complete', 'embed', 'messages', 'createModelResponse']);

/** True when a reply without counts has tokens to be counted. */
export function isEstimated(ctx: RequestContext): boolean {
  return ctx.params !== null && estimated.has(ctx.endpoint?.operation ?? '');
}

/** Adds the seconds of audio from `x-svc-audio-file-duration`, if the provider did not report them. */
export function addStatedDuration(ctx: RequestContext, stated: string): void {
  const seconds = Number(stated);
  if (!(seconds > 0 && seconds <= audioSecondsMax) || ctx.usage?.units.audio_seconds !== undefined) return;
  const usage = ctx.usage ?? emptyUsage();
  ctx.usage = { ...usage, units: { ...usage.units, audio_seconds: seconds } };
}

/** A week: longer than any file that providers take. */
const audioSecondsMax = 604_800;

/** Maximum time in milliseconds that the end of a reply waits for its count. */
const timeoutMs = 2000;

/** Replies up to this size are parsed to count their tokens; parsing a longer one would block other requests. */
const parsedBytesMax = 1024 * 1024;

/** Fields of replies that hold text the model wrote. */
const replyKeys = ['choices', 'content', 'output'] as const;

/**
 * Returns the tokens of a reply whose provider reported none, marked as estimated. The prompt and a plain reply are counted by a
 * tokenizer. A stream counts one token per event, which is how providers split them. Null if the reply is longer than 1 MiB or the count
 * is unavailable: the reply must not fail because of it.
 */
export async function estimateUsage(
  ctx: RequestContext,
  services: CoreServices,
  reply: Uint8Array | null,
): Promise<Usage | null> {
  if (reply !== null && reply.length > parsedBytesMax) return null;
  try {
    const inputTokens = await services.countTokens(promptTexts(ctx.params), timeoutMs);
    const outputTokens =
      reply === null ? ctx.streamEvents : await services.countTokens(textsBelow(parse(reply), replyKeys), timeoutMs);
    return { ...emptyUsage(), inputTokens, outputTokens, estimated: true };
  } catch (thrown) {
    services.log.warn({ requestId: ctx.id, reason: String(thrown) }, 'could not estimate the tokens of a reply');
    return null;
  }
}

function parse(body: Uint8Array): JsonObject | null {
  const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  return isObject(value) ? value : null;
}
