import { byName } from '../json/by-name.ts';
import type { JsonObject } from '../json/json.ts';
import { emptyUsage, type Usage } from './usage.ts';

/** Tokens of an image of 1024 × 1024 pixels: https://platform.openai.com/docs/guides/image-generation */
const tokensOfQuality: Readonly<Record<string, number>> = byName({ low: 272, medium: 1_056, high: 4_160 });
const squarePixels = 1024 * 1024;
const pixelsMax = 4_096 * 4_096;

/**
 * Estimates the usage of one image, for a stream that ends behind a preview of it. Another quality than `low` and `medium` counts as `high`,
 * and a size that is not stated as a square.
 */
export function roughImageUsage(members: JsonObject): Usage {
  const [quality, size] = [textOf(members.quality), textOf(members.size)];
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size) ?? [];
  const pixels = width === undefined ? squarePixels : Math.min(Number(width) * Number(height), pixelsMax);
  const ofSquare = tokensOfQuality[quality] ?? (tokensOfQuality.high as number);
  const tokens = Math.ceil(ofSquare * Math.max(1, pixels / squarePixels));
  return { ...emptyUsage(), outputTokens: tokens, imageOutputTokens: tokens, estimated: true };
}

/** Callers and providers may send any value, and `String` throws for some objects. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
