import type { JsonObject } from '../../values/json/json.ts';
import { emptyUsage, noUnits, type Usage } from '../../values/models/usage.ts';
import type { RequestContext } from '../context.ts';
import { imageParams, tierOfCall } from '../requests/sent-params.ts';
import type { ImageRecord, MediaRecord, SavedCall, SessionPart } from './record.ts';

/** Returns the usage of a call as records have it. All counts are 0 while it is unknown. */
export function recordedUsage(
  ctx: RequestContext,
  targetPath = ctx.targetPath,
): Omit<SavedCall, 'provider' | 'providerSlug' | 'model'> {
  const { usage } = ctx;
  return {
    ...countsOf(usage ?? emptyUsage()),
    media: usage ? mediaOf(usage) : null,
    image: usage?.units.generated_images === undefined ? undefined : imageOf(imageParams(ctx, targetPath)),
    serviceTier: (usage && tierOfCall(ctx, targetPath, usage)) || undefined,
  };
}

/** Returns the usage of some responses of a session as its record has it. */
export function recordedPart(responses: number, usage: Usage): SessionPart {
  const tier = usage.serviceTier === null ? {} : { serviceTier: usage.serviceTier };
  return { responses, ...countsOf(usage), media: mediaOf(usage), ...tier };
}

function countsOf({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens }: Usage) {
  return { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens };
}

/** Null for text alone, which is the usual case. */
function mediaOf(usage: Usage): MediaRecord | null {
  const { audioInputTokens, audioOutputTokens, imageInputTokens, imageOutputTokens, units } = usage;
  if (audioInputTokens + audioOutputTokens + imageInputTokens + imageOutputTokens === 0 && units === noUnits) return null;
  return { audioInputTokens, audioOutputTokens, imageInputTokens, imageOutputTokens, units: { ...units } };
}

function imageOf({ quality, size }: JsonObject): ImageRecord {
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value.slice(0, 64) : null);
  return { quality: textOf(quality), size: textOf(size) };
}
