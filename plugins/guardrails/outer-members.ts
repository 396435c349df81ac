import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject, listOf, objectsIn } from '../../core/contract/values/json/json.ts';
import { everyText, isWord, type TextPart } from './every-text.ts';
import { ofRequest } from './texts.ts';
import type { StreamFormat } from './window/event-texts.ts';

/** Returns the members of the reply beside its content, such as the results of a search, that an event has. Null: it has none. */
const heads: Readonly<Record<StreamFormat, (event: JsonObject) => JsonObject | null>> = {
  chat: (event) => (Array.isArray(event.choices) ? event : null),
  messages({ type, message, delta }) {
    if (type === 'message_start' && isObject(message)) return message;
    return type === 'message_delta' && isObject(delta) ? delta : null;
  },
  responses: ({ response }) => (isObject(response) ? response : null),
};

/** The member of a body with what single events have beside its members. No format has it. */
const furtherName = 'further_events';

/** Members that are read elsewhere, or hold counts. */
const elsewhere: ReadonlySet<string> = new Set(['choices', 'content', 'output', 'usage']);

/**
 * Adds the members that the events of a stream have beside the content. The first event with a member decides, unless `body` has the member. Other
 * values of it, and further members of choices, are in a list: clients may read them in each event.
 */
export function withOuterMembers(format: StreamFormat, events: readonly JsonObject[], body: JsonObject): JsonObject {
  const members = new Map<string, unknown>(Object.entries(body));
  for (const event of events) {
    for (const [name, value] of Object.entries(heads[format](event) ?? {})) {
      if (!elsewhere.has(name) && !members.has(name)) members.set(name, value);
    }
  }
  const joined: JsonObject = Object.fromEntries(members);
  const further = new Map<string, JsonObject>();
  for (const event of events) {
    const own = furtherOf(format, event, joined);
    if (own !== null) further.set(JSON.stringify(own), own);
  }
  return further.size === 0 ? joined : { ...joined, [furtherName]: [...listOf(joined[furtherName]), ...further.values()] };
}

/** Returns what an event has beside the members of the body; null if it has nothing. */
function furtherOf(format: StreamFormat, event: JsonObject, body: JsonObject): JsonObject | null {
  const members = Object.entries(heads[format](event) ?? {}).filter(
    ([name, value]) => mayHoldText(format, name, value) && !isDeepStrictEqual(value, body[name]),
  );
  if (format === 'chat') {
    const choices = objectsIn(event.choices).map(ofChoice);
    if (choices.some((more) => Object.values(more).some((value) => mayHoldText(format, '', value))))
      members.push(['choices', choices]);
  }
  return members.length === 0 ? null : Object.fromEntries(members);
}

/** A string of one word is a setting or padding, such as `obfuscation`, which differs in each event. */
function mayHoldText(format: StreamFormat, name: string, value: unknown): boolean {
  if (elsewhere.has(name) || (format === 'responses' && ofRequest.has(name))) return false;
  return typeof value === 'string' ? !isWord(value) : hasText(value);
}

function hasText(value: unknown): boolean {
  const parts: TextPart[] = [];
  everyText(value, [], parts);
  return parts.length > 0;
}

function ofChoice({
  index: _i,
  delta: _d,
  message: _m,
  text: _t,
  finish_reason: _f,
  logprobs: _l,
  ...more
}: JsonObject): JsonObject {
  return more;
}

/** Returns a function that writes changed members into an event. A member that `changed` lacks stays. */
export function outerRewriter(format: StreamFormat, old: JsonObject, changed: JsonObject): (event: JsonObject) => JsonObject {
  const names = changedMembers(old, changed);
  if (names.length === 0) return (event) => event;
  const isChanged = new Set(names);
  // A stream may have a value of its own in each event, such as the offsets of a filter.
  const known = new Map(listOf(old[furtherName]).map((one, index) => [JSON.stringify(one), index]));
  return (event) => {
    const head = heads[format](event);
    if (head === null) return event;
    const next: JsonObject = { ...head };
    for (const [name, value] of Object.entries(head))
      if (isChanged.has(name) && isDeepStrictEqual(value, old[name])) next[name] = changed[name];
    const own = furtherOf(format, event, old);
    const further = own === null ? null : listOf(changed[furtherName])[known.get(JSON.stringify(own)) ?? -1];
    if (isObject(further)) {
      const { choices, ...members } = further;
      Object.assign(next, members);
      const given = objectsIn(choices);
      if (given.length > 0) next.choices = objectsIn(head.choices).map((choice, index) => ({ ...choice, ...given[index] }));
    }
    if (format === 'chat') return next;
    return format === 'responses'
      ? { ...event, response: next }
      : { ...event, [event.type === 'message_start' ? 'message' : 'delta']: next };
  };
}

/** Returns the names of the members beside the content that were changed. */
export function changedMembers(old: JsonObject, changed: JsonObject): string[] {
  return Object.keys(old).filter(
    (name) => !elsewhere.has(name) && changed[name] !== undefined && !isDeepStrictEqual(old[name], changed[name]),
  );
}
