import { LRUCache } from 'lru-cache';
import { newEntryCache } from '../../contract/entry-cache.ts';

/**
 * Characters of one part. NATS refuses messages above 1 MiB by default (`max_payload`), and a part may have three bytes per character and
 * is sealed as base64.
 */
const partLength = 192 * 1024;
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

/** Splits a message. A part never ends between the two halves of a surrogate pair, which UTF-8 cannot carry alone. */
export function partsOf(from: string, number: number, text: string): Part[] {
  const texts: string[] = [];
  for (let start = 0; start < text.length || texts.length === 0; ) {
    const end = start + partLength;
    const cut = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
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
}

/** `lengthMax`: maximum length of a message in characters. */
export function createAssembly(lengthMax: number): Assembly {
  const countMax = Math.ceil(lengthMax / (partLength - 1));
  const incomplete = new LRUCache<string, Incomplete>({
    maxSize: incompleteMax,
    sizeCalculation: ({ count }) => count * partLength,
  });
  const seen = newEntryCache<string, true>(seenMax);
  return {
    add({ from, number, index, count, text }) {
      const name = `${from} ${number}`;
      if (count > countMax || index >= count || seen.has(name)) return null;
      const found = incomplete.get(name) ?? { count, texts: new Map<number, string>() };
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

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}
