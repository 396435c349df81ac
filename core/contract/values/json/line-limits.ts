import { jsonExcess } from './json-excess.ts';

/** A text of this length cannot hold so many values that parsing it takes long. */
const shortLength = 128 * 1024;

/**
 * Values of a line of a batch file or an event of a stream: a line of 64 MiB has room for a few million numbers of embeddings. 32 MiB of empty
 * objects took eight seconds and 1.5 GB to parse.
 */
const limits = { valuesMax: 8_000_000, depthMax: Number.POSITIVE_INFINITY, containerValues: 20 };

/** An error text for a text for which `hasTooManyValues` returns true. */
export const tooManyValues = 'too many values: at most 400,000 objects and lists, or 8 million numbers, are possible';

/** Returns true for JSON that must not be parsed, because this would block the process and take much memory. */
export function hasTooManyValues(text: string): boolean {
  return text.length > shortLength && jsonExcess(text, limits) !== null;
}
