import { dayMs, hourMs, minuteMs } from '../../../core/contract/values/time/durations.ts';
import { invalid } from '../../http/errors.ts';

/** Time of a chart, from `fromMs` (inclusive) to `toMs` (exclusive), in buckets of `bucketMs` that begin at multiples of it. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
  readonly bucketMs: number;
}

/** Minutes are used up to this length, hours up to the next, then days. */
const minutesMs = 3 * hourMs;
const hoursMs = 4 * dayMs;
const longestMs = 3_660 * dayMs;
/** Roll-ups of minutes are deleted after two days; a margin for the clock and the hourly deletion. */
const minutesKeptMs = 47 * hourMs;

/**
 * Returns the range of a query. It is widened to whole minutes if it is short and recent, else to whole hours (UTC), because roll-ups
 * are not shorter. Throws AB01 if the maximum is not after the minimum.
 */
export function rangeOf(
  { time_of_generation_min: min, time_of_generation_max: max }: Readonly<Record<`time_of_generation_${'min' | 'max'}`, Date>>,
  nowMs: number,
): Range {
  const lengthMs = max.getTime() - min.getTime();
  if (lengthMs <= 0) throw invalid('time_of_generation_max: must be after time_of_generation_min');
  if (lengthMs > longestMs) throw invalid('time_of_generation_min: at most ten years before time_of_generation_max');
  const isShort = lengthMs <= minutesMs && min.getTime() >= nowMs - minutesKeptMs;
  const bucketMs = isShort ? minuteMs : lengthMs <= hoursMs ? hourMs : dayMs;
  const stepMs = Math.min(bucketMs, hourMs);
  return {
    fromMs: Math.floor(min.getTime() / stepMs) * stepMs,
    toMs: Math.ceil(max.getTime() / stepMs) * stepMs,
    bucketMs,
  };
}

/** Returns the start of every bucket of the range. */
export function bucketsOf({ fromMs, toMs, bucketMs }: Range): number[] {
  const first = Math.floor(fromMs / bucketMs) * bucketMs;
  return Array.from({ length: Math.ceil((toMs - first) / bucketMs) }, (_, at) => first + at * bucketMs);
}
