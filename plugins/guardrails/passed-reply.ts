import { isUtf8 } from 'node:buffer';
import { decodeBody } from '../../core/contract/values/bodies/content-decoder.ts';
import { textOfFile } from '../../core/contract/values/bodies/encoded-file.ts';
import { findHeader, type HeaderList } from '../../core/contract/values/http/http.ts';
import { hasDuplicateKeys } from '../../core/contract/values/json/duplicate-keys.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { after, type Maybe } from '../../core/contract/values/maybe.ts';
import { framesOf } from '../../core/contract/values/text/event-frames.ts';
import { dataOf, isEventStream, linesOf } from '../../core/contract/values/text/event-text.ts';
import { hasTooManyLines } from '../../core/contract/values/text/line-limit.ts';
import { deltaTexts } from './every-text.ts';

const decodedBytesMax = 64 * 1024 * 1024;

/** Replies of these types have no text for checks, unless they are text nevertheless: some model servers declare no other type. */
const withoutText = /^(?:audio|image|video|font)\/|^application\/(?:octet-stream|pdf|zip)\b/i;
const readable = /^text\/|^application\/(?:[\w.+-]+\+)?json\b|^application\/(?:x-ndjson|jsonl)\b/i;

/**
 * Reads the reply of a pass-through request: JSON, events with their names, ids and comments, lines of JSON, or text. The deltas of a stream are
 * joined by their place in the events. `{}` for a reply without text, null for one that cannot be read.
 */
export function readPassedReply(headers: Readonly<HeaderList>, bytes: Uint8Array): Maybe<JsonObject | null> {
  const type = findHeader(headers as HeaderList, 'content-type') ?? '';
  if (bytes.length === 0) return {};
  const isMedia = withoutText.test(type);
  if (!isMedia && !readable.test(type)) return null;
  return after(decodeBody(bytes, findHeader(headers as HeaderList, 'content-encoding'), decodedBytesMax), (decoded) => {
    if (decoded === null) return null;
    return isMedia && !isUtf8(decoded) ? {} : toBody(decoded, isEventStream(type));
  });
}

/**
 * Null if an object has a name twice, because readers choose different values, if an event is nested too deeply, or if there are too many lines.
 */
function toBody(bytes: Uint8Array, isEvents: boolean): JsonObject | null {
  const text = textOfFile(bytes, 'text/plain') as string;
  const whole = parse(text);
  if (whole !== undefined) {
    if (hasTwice(text, whole)) return null;
    if (!isListOfChunks(whole)) return isObject(whole) ? whole : { items: whole };
    const texts = textsOrNull(whole);
    return texts && { texts };
  }
  const read = hasTooManyLines(bytes) ? null : eventsIn(text, isEvents);
  if (read === null) return null;
  const { events, rest } = read;
  // Events that are no JSON may continue a word too.
  const joined = isEvents && rest.includes('\n') ? { joined: rest.replaceAll('\n', '') } : {};
  const texts = events.length === 0 ? [] : textsOrNull(events);
  return texts && { ...(texts.length === 0 ? {} : { texts }), text: rest, ...joined };
}

/** True for a stream of Gemini without `alt=sse`: a list whose items continue each other's texts. */
function isListOfChunks(value: unknown): value is JsonObject[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && chunkMembers.some((name) => name in item))
  );
}

const chunkMembers = ['candidates', 'usageMetadata', 'promptFeedback', 'error'];

/** Returns the events or lines in JSON, and the other texts. Null if an object has a name twice. */
export function eventsIn(text: string, isEvents: boolean): { events: JsonObject[]; rest: string } | null {
  const pieces = isEvents || hasData.test(text) ? framesOf(text).flatMap(piecesOf) : text.split(/\r\n|\r|\n/);
  const events: JsonObject[] = [];
  const others: string[] = [];
  for (const piece of pieces) {
    const event = parse(piece);
    if (event !== undefined && hasTwice(piece, event)) return null;
    if (typeof event === 'object' && event !== null) events.push(isObject(event) ? event : { items: event });
    else others.push(typeof event === 'string' ? event : piece);
  }
  const names = new Set(events.flatMap(({ type, object }) => [type, object]));
  return { events, rest: others.filter((other) => !isMark(other.trim(), names)).join('\n') };
}

/** Null if an event is nested too deeply. */
function textsOrNull(events: readonly JsonObject[]): string[] | null {
  try {
    return deltaTexts(events);
  } catch {
    return null;
  }
}

/** Some servers send events with another content type. */
const hasData = /(?:^|[\r\n])data:/;

/** The data of an event, and each text in its other fields and comments. */
function piecesOf(frame: string): string[] {
  const others = linesOf(frame).filter((line) => !/^(?:data(?::|$)|retry:)/.test(line));
  return [dataOf(frame) ?? '', ...others.map((line) => line.replace(/^(?:event|id)?: ?/, ''))];
}

/** True for the end mark, and for the name of an event that its data repeats, as `object` in OpenAI's older formats. */
function isMark(text: string, names: ReadonlySet<unknown>): boolean {
  return text === '' || text === '[DONE]' || names.has(text);
}

function hasTwice(text: string, value: unknown): boolean {
  return typeof value === 'object' && value !== null && hasDuplicateKeys(text, value as JsonObject);
}

function parse(text: string): unknown {
  // Most pieces are names of events, and an exception takes as long as the rest.
  if (!mayBeJson.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Numbers and words are texts here. */
const mayBeJson = /^\s*[[{"]/;
