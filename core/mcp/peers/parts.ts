import { LRUCache } from 'lru-cache';
import { newEntryCache } from '../../contract/entry-cache.ts';
import { endsWithHalf } from '../../contract/values/text/surrogates.ts';

/** Maximum length of a part in characters. NATS accepts 1 MiB by default. */
const partLengthMax = 192 * 1024;
/** Shorter parts are not sent. NATS servers that accept less than 8 KiB are reported at start. */
const partLengthMin = 1024;
/** Bytes of a notice beside the sealed part: JSON, and the ids of both processes. */
const envelopeBytes = 256;
/** Bytes that are sealed beside the text: the head of the part, and the nonce and tag of its encryption. */
const headBytes = 256;
/** Characters of incomplete messages that are held. The oldest messages are dropped first. */
const incompleteMax = 256 * 1024 * 1024;
/** Messages whose repetition is recognised. */
const seenMax = 50_000;

/** One part of a message between processes, before it is sealed. */
export interface Part {
  readonly from: string;
  /** Number of the message at its sender. */
  readonly number: number;
  readonly index: number;
  readonly count: number;
  readonly text: string;
}

/**
 * Returns the length of parts, in characters, whose notices have at most this size. A character has up to three bytes, and base64 makes four
 * bytes of three.
 */
export function partLengthOf(noticeBytesMax: number): number {
  const length = Math.floor((((noticeBytesMax - envelopeBytes) * 3) / 4 - headBytes) / 3);
  return Math.min(Math.max(length, partLengthMin), partLengthMax);
}

/** Splits a message into parts of this length. A part never ends between the two halves of a surrogate pair, which UTF-8 cannot carry alone. */
export function partsOf(from: string, number: number, text: string, length: number): Part[] {
  const texts: string[] = [];
  for (let start = 0; start < text.length || texts.length === 0; ) {
    const end = start + length;
    const cut = endsWithHalf(text, end) ? end - 1 : end;
    texts.push(text.slice(start, cut));
    start = cut;
  }
  return texts.map((one, index) => ({ from, number, index, count: texts.length, text: one }));
}

/** Joins the parts of messages. */
export interface Assembly {
  /**
   * Returns the message if this was its last missing part, else null. Channels of one machine and between machines can both deliver a part;
   * each message is returned once.
   */
  add(part: Part): string | null;
}

interface Incomplete {
  readonly count: number;
  readonly texts: Map<number, string>;
  /** Length of the longest part so far. */
  readonly longest: number;
}

/** `lengthMax`: maximum length of a message in characters. */
export function createAssembly(lengthMax: number): Assembly {
  const countMax = Math.ceil(lengthMax / (partLengthMin - 1));
  const incomplete = new LRUCache<string, Incomplete>({
    maxSize: incompleteMax,
    sizeCalculation: ({ count, longest }) => count * longest,
  });
  const seen = newEntryCache<string, true>(seenMax);
  return {
    add({ from, number, index, count, text }) {
      const name = `${from} ${number}`;
      if (count > countMax || index >= count || seen.has(name)) return null;
      const known = incomplete.get(name);
      const texts = known?.texts ?? new Map<number, string>();
      const found = { count: known?.count ?? count, texts, longest: Math.max(known?.longest ?? 1, text.length) };
      found.texts.set(index, text);
      if (found.texts.size < found.count) {
        incomplete.set(name, found);
        return null;
      }
      seen.set(name, true);
      incomplete.delete(name);
      return found.count === 1 ? text : Array.from({ length: found.count }, (_, at) => found.texts.get(at)).join('');
    },
  };
}

/** The text that is sealed. */
export function writePart({ from, number, index, count, text }: Part): string {
  return `${from} ${number} ${index} ${count} ${text}`;
}

/** Returns null for text that is no part. */
export function readPart(sealed: string): Part | null {
  const found = /^(\S{1,64}) (\d{1,15}) (\d{1,6}) (\d{1,6}) /.exec(sealed);
  if (!found) return null;
  const [head, from = '', number, index, count] = found;
  return { from, number: Number(number), index: Number(index), count: Number(count), text: sealed.slice(head.length) };
}
