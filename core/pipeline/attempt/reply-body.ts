import type { Operation } from '../../contract/provider/provider.ts';
import { findHeader, type HeaderList, withoutHeader } from '../../contract/values/http/http.ts';
import { isJsonType } from '../../contract/values/http/media-types.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues } from '../../contract/values/json/line-limits.ts';
import { isEventStream } from '../../contract/values/text/event-text.ts';
import { textOf } from '../../contract/values/text/utf8.ts';

/** A reply without a content type counts as JSON, because shaped routes request JSON. */
export function isJson(headers: HeaderList): boolean {
  const type = findHeader(headers, 'content-type');
  return type === undefined || isJsonType(type);
}

/** True if these are the headers of the events that the operation reads. */
export function isStream(headers: HeaderList, operation: Operation): boolean {
  const type = findHeader(headers, 'content-type');
  const framed = operation.decodeStream?.contentType;
  return framed === undefined ? isEventStream(type) : (type?.toLowerCase().startsWith(framed) ?? false);
}

/** True if these bytes begin with a line of an event, which no JSON does. The line must be whole up to its colon. */
export function beginsWithEvent(body: Uint8Array): boolean {
  const beginning = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 64)).toString('utf8');
  return /^\ufeff?[\r\n]*(?:data|event|id|retry)?:/.test(beginning);
}

export const eventStreamType = 'text/event-stream; charset=utf-8';

/** Returns the headers with the content type of events. */
export function withEventStreamType(headers: HeaderList): HeaderList {
  return [...withoutHeader(headers, 'content-type'), 'content-type', eventStreamType];
}

/**
 * Parses the body of an error response. Null if it is no JSON object. Google's servers, also the one with OpenAI's API, send some errors as
 * a list of one object.
 */
export function parseErrorBody(body: Uint8Array): JsonObject | null {
  try {
    const text = textOf(body);
    if (hasTooManyValues(text)) return null;
    const value: unknown = JSON.parse(text);
    const only: unknown = Array.isArray(value) ? value[0] : value;
    return isObject(only) ? only : null;
  } catch {
    return null;
  }
}

/** Returns the beginning of an unreadable reply for the error message, or its kind if it is empty or no text. */
export function excerpt(body: Uint8Array): string {
  if (body.byteLength === 0) return 'the body is empty';
  const beginning = Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, 2000));
  const coding = codings.find(([magic]) => magic.equals(beginning.subarray(0, magic.length)))?.[1];
  if (coding !== undefined) return `the body looks like ${coding}, but no content-encoding names it`;
  const text = beginning.toString('utf8');
  // Texts in other encodings than UTF-8 have some invalid bytes.
  const unreadable = text.match(/(?![\t\r\n])[\p{Cc}\ufffd]/gu)?.length ?? 0;
  return unreadable > text.length / 10 ? `the body is not text (${body.byteLength} bytes)` : text.replace(/\p{Cc}+/gu, ' ');
}

/** The first bytes of compressed data. */
const codings: readonly (readonly [magic: Buffer, name: string])[] = [
  [Buffer.from([0x1f, 0x8b]), 'gzip'],
  [Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), 'zstd'],
];

/** Returns the declared length of a reply; undefined if there is no valid one. */
export function contentLength(headers: HeaderList): number | undefined {
  const length = findHeader(headers, 'content-length');
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}
