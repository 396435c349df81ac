import { isObject, type JsonObject } from '../contract/values/json/json.ts';

/** Members of parts that hold content for people and models. Others are files, encoded or by URL. */
const readable: readonly string[] = ['text', 'data'];

/** Deeper values have no parts that A2A defines. */
const depthMax = 16;

/** A readable member of a part. */
export interface PartText {
  readonly part: JsonObject;
  readonly member: string;
}

/** Returns the readable members of all parts in a request or a reply of either version: of messages, artifacts and histories. */
export function partTexts(value: unknown, depth = 0): PartText[] {
  if (depth > depthMax || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => partTexts(item, depth + 1));
  return Object.entries(value).flatMap(([name, inner]) =>
    isParts(name, inner) ? inner.flatMap((part) => textsOf(part)) : partTexts(inner, depth + 1),
  );
}

/**
 * Returns the texts of a stream that clients put together: the parts of each artifact, and those of all messages. Events are in the shape of
 * either version.
 */
export function joinedTexts(events: readonly JsonObject[]): string[] {
  const joined = new Map<unknown, string>();
  for (const event of events) {
    const update = isObject(event.artifactUpdate) ? event.artifactUpdate : event;
    const artifactId = isObject(update.artifact) ? update.artifact.artifactId : undefined;
    for (const { part, member } of partTexts(event)) {
      const value = part[member];
      if (typeof value === 'string') joined.set(artifactId, (joined.get(artifactId) ?? '') + value);
    }
  }
  return [...joined.values()];
}

/** Number of characters of all readable members. */
export function charactersOf(texts: readonly PartText[]): number {
  let characters = 0;
  for (const { part, member } of texts) {
    const value = part[member];
    characters += typeof value === 'string' ? value.length : JSON.stringify(value).length;
  }
  return characters;
}

/** In the JSON of protocol buffers, 0.3 has `content` for the parts of a message. */
function isParts(name: string, value: unknown): value is unknown[] {
  return (name === 'parts' || name === 'content') && Array.isArray(value);
}

function textsOf(part: unknown): PartText[] {
  if (!isObject(part)) return [];
  return readable.filter((member) => part[member] !== undefined).map((member) => ({ part, member }));
}
