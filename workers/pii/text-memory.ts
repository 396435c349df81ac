import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PiiCategory } from '../../core/contract/plugin/guardrails/pii-categories.ts';

/** One finding in a text without disguises. `start` and `end` are UTF-16 code units. */
export interface Place {
  readonly category: PiiCategory;
  readonly start: number;
  readonly end: number;
}

/** Approximate bytes of an entry and of a place. */
const entryBytes = 250;
const placeBytes = 60;

/** Bytes of all entries of a thread, and of the largest one. */
const bytesMax = 4 * 1024 * 1024;
const entryBytesMax = 64 * 1024;

/** Shorter texts are searched in about the time of a look-up. */
const charsMin = 64;

/** Most texts have no unit of a surrogate pair, and a search for any takes a fifth of the time of one for those without the other half. */
const anyHalf = /[\ud800-\udfff]/;
const loneHalf = /\p{Surrogate}/u;

const kept = new LRUCache<string, readonly Place[]>({
  maxSize: bytesMax,
  maxEntrySize: entryBytesMax,
  sizeCalculation: (places) => entryBytes + places.length * placeBytes,
});

/**
 * Returns a search that remembers where it found something, by the SHA-256 of each text, but neither texts nor what it found. Agents send the
 * whole conversation in every turn, so most texts have been searched before. Entries belong to a workspace (`owner`): otherwise the time of a call
 * would show whether another workspace has sent a text.
 */
export function remembering(
  owner: string,
  categories: readonly PiiCategory[],
  search: (text: string) => readonly Place[],
): (text: string) => readonly Place[] {
  const scope = hash('sha256', JSON.stringify([owner, categories]), 'base64');
  return (text) => {
    // UTF-8 has the same bytes for all halves of surrogate pairs, so the hash could be that of another text.
    if (text.length < charsMin || (anyHalf.test(text) && loneHalf.test(text))) return search(text);
    const key = scope + hash('sha256', text, 'base64');
    const known = kept.get(key);
    if (known !== undefined) return known;
    const places = search(text);
    kept.set(key, places);
    return places;
  };
}
