import { decodeBody } from '../../core/contract/values/bodies/content-decoder.ts';
import { findHeader, type HeaderList } from '../../core/contract/values/http/http.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { after, type Maybe } from '../../core/contract/values/maybe.ts';
import { textOf } from '../../core/contract/values/text/utf8.ts';
import { deltaTexts } from './every-text.ts';

const decodedBytesMax = 64 * 1024 * 1024;

/** Replies of these types have no text for checks. */
const withoutText = /^(?:audio|image|video|font)\/|^application\/(?:octet-stream|pdf|zip)\b/i;
const readable = /^text\/|^application\/(?:[\w.+-]+\+)?json\b|^application\/(?:x-ndjson|jsonl)\b/i;

/**
 * Reads the reply of a pass-through request: JSON, events, lines of JSON, or text. The deltas of a stream are joined by their place in the
 * events. `{}` for a reply without text, null for one that cannot be read.
 */
export function readPassedReply(headers: Readonly<HeaderList>, bytes: Uint8Array): Maybe<JsonObject | null> {
  const type = findHeader(headers as HeaderList, 'content-type') ?? '';
  if (bytes.length === 0 || withoutText.test(type)) return {};
  if (!readable.test(type)) return null;
  return after(
    decodeBody(bytes, findHeader(headers as HeaderList, 'content-encoding'), decodedBytesMax),
    (decoded) => decoded && toBody(decoded),
  );
}

function toBody(bytes: Uint8Array): JsonObject {
  const text = textOf(bytes);
  const whole = parse(text);
  if (isObject(whole)) return whole;
  if (whole !== undefined) return { items: whole };
  const events = text.split(/\r\n|\r|\n/).flatMap((line) => {
    const event = parse(line.replace(/^data:/, ''));
    return isObject(event) ? [event] : [];
  });
  return events.length === 0 ? { text } : { texts: deltaTexts(events), text: '' };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
