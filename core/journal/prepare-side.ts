import type { ContentSide } from '../contract/protocol/record-contents.ts';
import { decodeBodySync } from '../contract/values/bodies/content-decoder.ts';
import { findHeader, type HeaderList } from '../contract/values/http/http.ts';
import { isEventStream } from '../contract/values/text/event-text.ts';
import { textOf } from '../contract/values/text/utf8.ts';
import type { Masks } from './mask-content.ts';

const decodedBytesMax = 8 * 1024 * 1024;

/** The request or the response of a record whose content is stored. */
type HeldSide = ContentSide & { readonly omitted: Exclude<ContentSide['omitted'], 'not_stored'> };

/** Returns one direction with credentials masked. `merge` assembles a stream from its events. */
export function sideOf(
  headers: HeaderList,
  bytes: Uint8Array | null,
  isCut: boolean,
  masks: Masks,
  merge: (events: string) => unknown,
): HeldSide {
  const shown = masks.headers(headers);
  if (bytes === null) return { headers: shown, body: null, omitted: 'not_held' };
  if (bytes.length === 0) return { headers: shown, body: null, omitted: null };
  const type = findHeader(headers, 'content-type') ?? 'application/json';
  const plain = isText(type) ? decodeBodySync(bytes, findHeader(headers, 'content-encoding'), decodedBytesMax) : null;
  if (plain === null) return { headers: shown, body: null, omitted: 'binary' };
  const text = textOf(plain);
  if (isCut) return { headers: shown, body: masks.text(text), omitted: 'cut' };
  const value = isEventStream(type) ? merge(text) : parsed(text);
  return { headers: shown, body: value === text ? masks.text(text) : masks.body(value), omitted: null };
}

function isText(type: string): boolean {
  return /^(text\/|application\/([a-z0-9.+-]*\+)?(json|xml|x-ndjson|jsonl|x-www-form-urlencoded)\b)/i.test(type);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the chunks as one array. */
export function join(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}
