import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import { reasonOf } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { promptTexts } from '../../core/contract/values/models/prompt-text.ts';

/** For shorter texts the rough estimate is precise enough for routing, and needs no thread. */
const countedCharsMin = 4096;
/** The worker would truncate a longer text, so the rough estimate is better. */
const countedCharsMax = 1024 * 1024;
/** Maximum time in milliseconds that routing waits for a count. */
const timeoutMs = 500;
/** Characters of a token, as a rule of thumb for English and code. */
const charsPerToken = 4;

const counts = new WeakMap<RequestContext, number>();

/**
 * Returns the tokens of the request's text: as counted by `countInputTokens`, otherwise estimated as one per four characters. 0
 * if the route has no parameters.
 */
export function inputTokens(ctx: RequestContext): number {
  let tokens = counts.get(ctx);
  if (tokens === undefined) {
    tokens = Math.ceil(charsOf(promptTexts(ctx.params)) / charsPerToken);
    counts.set(ctx, tokens);
  }
  return tokens;
}

/** Counts the tokens of a longer text off the main thread. If that fails the estimate is used. */
export function countInputTokens(ctx: RequestContext, services: CoreServices): Maybe<void> {
  if (counts.has(ctx)) return;
  const texts = promptTexts(ctx.params);
  const chars = charsOf(texts);
  counts.set(ctx, Math.ceil(chars / charsPerToken));
  if (chars < countedCharsMin || chars > countedCharsMax) return;
  const counted = services.countTokens(texts, timeoutMs, ctx.identity?.workspaceId);
  if (!isPromise(counted)) return;
  return counted.then(
    (tokens) => void counts.set(ctx, tokens),
    (thrown: unknown) =>
      services.log.warn({ requestId: ctx.id, reason: reasonOf(thrown) }, 'routing uses a rough estimate of input tokens'),
  );
}

function charsOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
