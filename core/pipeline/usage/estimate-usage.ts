import type { RequestContext } from '../../contract/plugin/context.ts';
import type { CoreServices } from '../../contract/plugin/core-plugin.ts';
import { reasonOf } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import {
  charactersPerToken,
  promptTexts,
  roughTokens,
  textsBelow,
  tokensBesideTexts,
} from '../../contract/values/models/prompt-text.ts';
import { audioSecondsMax, emptyUsage, inputTokensOf, type Usage } from '../../contract/values/models/usage.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import type { Outgoing } from '../attempt/outgoing-call.ts';

/** Operations whose replies consist of tokens. */
const estimated: ReadonlySet<string> = new Set([
  ...['chatComplete', 'complete', 'embed', 'messages', 'createModelResponse', 'compactModelResponse'],
]);

/** True if the tokens of a reply without counts must be estimated. */
function isEstimated(ctx: RequestContext): boolean {
  return ctx.params !== null && estimated.has(ctx.endpoint?.operation ?? '');
}

/**
 * Estimates the usage of a reply by lengths, at once, if it has tokens and no usage yet. A client that leaves while the tokens are counted,
 * and a verdict that denies the response, do not make it free.
 */
export function countRoughly(ctx: RequestContext, reply: Uint8Array | null): void {
  if (ctx.usage !== null || !isEstimated(ctx)) return;
  ctx.usage = unfinishedUsage(
    ctx,
    { operation: null, operationCall: null },
    { usage: null, events: ctx.streamEvents, body: reply },
  );
}

/**
 * Counts what the provider did not: tokens, roughly and at once, and the length of audio as the client states it. Null if it counted all,
 * nearly always. Otherwise returns a function that replaces the rough count by that of a tokenizer. It must be called.
 */
export function countUsage(ctx: RequestContext, services: CoreServices, reply: Uint8Array | null): (() => Promise<void>) | null {
  const stated = ctx.gatewayHeaders.get('audio-file-duration');
  if (!(ctx.usage === null && isEstimated(ctx)) && stated === undefined) return null;
  countRoughly(ctx, reply);
  return async () => {
    if ((ctx.usage === null || ctx.usage.estimated) && isEstimated(ctx)) {
      ctx.usage = (await estimateUsage(ctx, services, reply)) ?? ctx.usage;
    }
    if (stated !== undefined) addStatedDuration(ctx, stated);
  };
}

/** Adds the seconds of audio from `x-svc-audio-file-duration`, if the provider did not report them. */
function addStatedDuration(ctx: RequestContext, stated: string): void {
  const seconds = Number(stated);
  if (!(seconds > 0 && seconds <= audioSecondsMax) || ctx.usage?.units.audio_seconds !== undefined) return;
  const usage = ctx.usage ?? emptyUsage();
  ctx.usage = { ...usage, units: { ...usage.units, audio_seconds: seconds } };
}

/** Maximum time in milliseconds that the end of a reply waits for its count. */
const timeoutMs = 2000;

/** Replies up to this size are parsed to count their tokens; parsing a longer one would block other requests. */
const parsedBytesMax = 1024 * 1024;

/** Fields of replies that hold text of the model. */
const replyKeys = ['choices', 'content', 'output'] as const;

/**
 * Returns the tokens of a reply whose provider reported none, marked as estimated. The prompt and a plain reply are counted by a
 * tokenizer. A stream counts one token per event, which is how providers split them. Null if the reply is longer than 1 MiB or the count
 * is unavailable: the reply must not fail because of it.
 */
async function estimateUsage(ctx: RequestContext, services: CoreServices, reply: Uint8Array | null): Promise<Usage | null> {
  if (reply !== null && reply.length > parsedBytesMax) return null;
  try {
    const count = (texts: readonly string[]) => services.countTokens(texts, timeoutMs, ctx.identity?.workspaceId);
    const inputTokens = (await count(promptTexts(ctx.params))) + tokensBesideTexts(ctx.params);
    const outputTokens = reply === null ? ctx.streamEvents : await count(textsBelow(parse(reply), replyKeys));
    return { ...emptyUsage(), inputTokens, outputTokens, estimated: true };
  } catch (thrown) {
    services.log.warn(
      { requestId: ctx.id, reason: reasonOf(thrown) },
      'a reply without counts keeps a rough count of its tokens',
    );
    return null;
  }
}

function parse(body: Uint8Array): JsonObject | null {
  const value: unknown = JSON.parse(textOf(body));
  return isObject(value) ? value : null;
}

/** The available data of a reply that did not complete. */
export interface Seen {
  /** Usage that the provider has reported so far. */
  readonly usage: Usage | null;
  /** Events of its stream. */
  readonly events: number;
  /** The received part of a reply that is read whole; null: none. */
  readonly body: Uint8Array | null;
}

/**
 * Estimates the usage of a call whose reply did not complete; the result is marked as estimated. Providers report usage in the
 * last event. Without an estimate, a client that disconnects early would not be billed. The estimate is synchronous, because the
 * record of such a request is written at once. The prompt is counted by its length, a stream as one token per event, other
 * replies by the length of the received text. Null if there is nothing to estimate from: bytes that are only passed through.
 */
export function unfinishedUsage(
  ctx: RequestContext,
  outgoing: Pick<Outgoing, 'operation' | 'operationCall'>,
  seen: Seen,
): Usage | null {
  if (!isEstimated(ctx)) {
    const usage = seen.usage ?? usageOfCall(outgoing);
    return usage && { ...usage, estimated: true };
  }
  const outputTokens = Math.max(seen.events, seen.body === null ? 0 : Math.ceil(textLength(seen.body) / charactersPerToken));
  const { usage } = seen;
  // Some servers with the format of Anthropic or OpenAI begin with counts of zero, and state the real ones at the end.
  if (usage === null || inputTokensOf(usage) === 0) {
    const inputTokens = roughTokens(promptTexts(ctx.params)) + tokensBesideTexts(ctx.params);
    return {
      ...(usage ?? emptyUsage()),
      inputTokens,
      outputTokens: Math.max(outputTokens, usage?.outputTokens ?? 0),
      estimated: true,
    };
  }
  return usage.outputTokens >= outputTokens ? usage : { ...usage, outputTokens, estimated: true };
}

/** Returns the usage that follows from the request itself, for replies that report none. */
export function usageOfCall({ operation, operationCall }: Pick<Outgoing, 'operation' | 'operationCall'>): Usage | null {
  return operationCall ? (operation?.usageOfCall?.(operationCall) ?? null) : null;
}

/**
 * Matches the start of a reply field that holds text of the model, in every format. Inputs of tools are texts or, in Messages, objects.
 */
const textField = /"(?:content|text|thinking|reasoning|reasoning_content|arguments|refusal|input)"\s*:\s*"|"input"\s*:\s*\{/g;

/** Bytes of a reply that are searched; the rest is taken to hold as much text. Searching 64 MiB would block other requests. */
const searchedBytesMax = 1024 * 1024;

/** Number of characters of the model's output, in JSON that may end anywhere. */
function textLength(body: Uint8Array): number {
  let length = 0;
  const searched = Math.min(body.byteLength, searchedBytesMax);
  const text = textOf(body.subarray(0, searched));
  textField.lastIndex = 0;
  while (textField.test(text)) {
    const start = textField.lastIndex;
    textField.lastIndex = text.charCodeAt(start - 1) === quote ? endOfText(text, start) : endOfObject(text, start);
    length += textField.lastIndex - start;
  }
  return searched === body.byteLength ? length : Math.round(length * (body.byteLength / searched));
}

/**
 * Returns the index of the quote that ends a text. Not a regular expression: its stack use would grow with the length of the
 * text.
 */
function endOfText(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  return text.length;
}

/** Returns the index of the brace that ends an object whose members begin at `start`. */
function endOfObject(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfText(text, at + 1);
    else if (code === openBrace) depth++;
    else if (code === closeBrace && --depth === 0) return at;
  }
  return text.length;
}

const quote = 34;
const backslash = 92;
const openBrace = 123;
const closeBrace = 125;
