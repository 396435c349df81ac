import { jsonExcess } from './json-excess.ts';

/** A line of this length cannot hold so many values that parsing it takes long. */
const shortLength = 128 * 1024;

/**
 * Values of a line of a batch file: a line of 64 MiB has room for a few million numbers of embeddings. 32 MiB of empty objects took eight seconds
 * and 1.5 GB to parse.
 */
const limits = { valuesMax: 8_000_000, depthMax: Number.POSITIVE_INFINITY, containerValues: 20 };

/** An error text for a line for which `hasTooManyValues` returns true. */
export const tooManyValues = 'too many values: at most 400,000 objects and lists, or 8 million numbers, are possible in a line';

/** Returns true for a line of JSON that must not be parsed, because this would block the process and take much memory. */
export function hasTooManyValues(line: string): boolean {
  return line.length > shortLength && jsonExcess(line, limits) !== null;
}
