import type { RequestContext } from '../contract/context.ts';
import { isObject, type JsonObject } from '../contract/json.ts';
import type { Services } from '../contract/plugin.ts';
import { emptyUsage, type Usage } from '../contract/usage.ts';

/** The operations whose replies are made of tokens. */
const estimated: ReadonlySet<string> = new Set(['chatComplete', 'complete', 'embed', 'messages', 'createModelResponse']);

/** True when a reply without counts has tokens to be counted. */
export function isEstimated(ctx: RequestContext): boolean {
  return ctx.params !== null && estimated.has(ctx.endpoint?.operation ?? '');
}

/** Adds the seconds of audio that `x-svc-audio-file-duration` states, where the provider did not count them itself. */
export function addStatedDuration(ctx: RequestContext, stated: string): void {
  const seconds = Number(stated);
  if (!(seconds > 0 && seconds <= audioSecondsMax) || ctx.usage?.units.audio_seconds !== undefined) return;
  const usage = ctx.usage ?? emptyUsage();
  ctx.usage = { ...usage, units: { ...usage.units, audio_seconds: seconds } };
}

/** A week: longer than any file that providers take. */
const audioSecondsMax = 604_800;

/** How long the end of a reply may wait for its count. */
const timeoutMs = 2000;
const depthMax = 32;

/** Parameters that hold text the model reads, and fields of replies that hold text it wrote. */
const promptKeys = ['system', 'instructions', 'messages', 'prompt', 'input', 'tools'] as const;
const replyKeys = ['choices', 'content', 'output'] as const;
/** Fields that are names, ids or data, not text for a model. */
const notText: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'object',
  'model',
  'url',
  'data',
  'signature',
  'finish_reason',
  'status',
]);

/**
 * The tokens of a reply whose provider counted none, marked as estimated (differences, row 12). The prompt and a plain reply are
 * counted by a tokenizer; a stream counts one token per event, which is how providers cut them. Null when the count cannot be had:
 * the reply must not fail for it.
 */
export async function estimateUsage(ctx: RequestContext, services: Services, reply: Uint8Array | null): Promise<Usage | null> {
  try {
    const inputTokens = await services.countTokens(textsOf(ctx.params, promptKeys), timeoutMs);
    const outputTokens =
      reply === null ? ctx.streamEvents : await services.countTokens(textsOf(parse(reply), replyKeys), timeoutMs);
    return { ...emptyUsage(), inputTokens, outputTokens, estimated: true };
  } catch (thrown) {
    services.log.warn({ requestId: ctx.id, reason: String(thrown) }, 'the tokens of a reply could not be estimated');
    return null;
  }
}

function textsOf(body: JsonObject | null, keys: readonly string[]): string[] {
  const texts: string[] = [];
  for (const key of keys) collect(body?.[key], texts, 0);
  return texts;
}

function collect(value: unknown, texts: string[], depth: number): void {
  if (typeof value === 'string') texts.push(value);
  else if (depth > depthMax) return;
  else if (Array.isArray(value)) for (const item of value) collect(item, texts, depth + 1);
  else if (isObject(value))
    for (const [key, item] of Object.entries(value)) if (!notText.has(key)) collect(item, texts, depth + 1);
}

function parse(body: Uint8Array): JsonObject | null {
  const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8'));
  return isObject(value) ? value : null;
}
