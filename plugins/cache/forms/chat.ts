import { isObject, type JsonObject, objectsIn } from '../../../core/contract/values/json/json.ts';
import { eventText } from '../../../core/contract/values/text/event-text.ts';
import { indexOf, repeatedMax, textOf } from './events.ts';

/** Assembles a chat completion or completion from its chunks. Null without usage, and for chunks that cannot be put together. */
export function chatFromEvents(events: readonly JsonObject[]): JsonObject | null {
  const choices = new Map<number, JsonObject>();
  const { choices: _, usage: __, ...head } = events[0] ?? {};
  let usage: unknown = null;
  for (const event of events) {
    if (!Array.isArray(event.choices)) return null;
    usage = isObject(event.usage) ? event.usage : usage;
    for (const chunk of objectsIn(event.choices)) {
      const index = indexOf(chunk.index);
      const known = choices.get(index) ?? {
        index,
        ...(isObject(chunk.delta) ? { message: { role: 'assistant' } } : { text: '' }),
      };
      choices.set(index, known);
      if (!addChunk(known, chunk)) return null;
    }
  }
  if (!isObject(usage) || choices.size === 0) return null;
  const object = head.object === 'chat.completion.chunk' ? 'chat.completion' : head.object;
  const list = [...choices.values()].sort((left, right) => indexOf(left.index) - indexOf(right.index));
  return { ...head, object, choices: list.map(completed), usage };
}

function addChunk(choice: JsonObject, { delta, text, index: _, ...rest }: JsonObject): boolean {
  if (isObject(delta)) {
    if (delta.content_blocks !== undefined || !addDelta(choice.message as JsonObject, delta)) return false;
  } else choice.text = textOf(choice.text) + textOf(text);
  for (const [key, value] of Object.entries(rest)) {
    if (key === 'logprobs') choice.logprobs = joinLogprobs(choice.logprobs, value);
    else if (value !== null || choice[key] === undefined) choice[key] = value;
  }
  return true;
}

function addDelta(message: JsonObject, delta: JsonObject): boolean {
  for (const [key, value] of Object.entries(delta)) {
    const known = message[key];
    if (key === 'role') message.role = value;
    else if (key === 'tool_calls') {
      const calls = Array.isArray(known) ? (known as JsonObject[]) : [];
      message.tool_calls = calls;
      if (!addToolCalls(calls, objectsIn(value))) return false;
    } else if (typeof value === 'string') message[key] = textOf(known) + value;
    else if (Array.isArray(value)) message[key] = extended(known, value);
    else if (value === null) message[key] = known ?? null;
    else return false;
  }
  return true;
}

/** Returns false for an index behind the next one: a list with holes could have billions of entries. */
function addToolCalls(calls: JsonObject[], deltas: readonly JsonObject[]): boolean {
  for (const { index, function: fn, custom, ...delta } of deltas) {
    const at = indexOf(index);
    if (at > calls.length) return false;
    const call: JsonObject = Object.assign(calls[at] ?? {}, delta);
    calls[at] = call;
    // Custom tools have free text in place of arguments.
    if (isObject(custom)) call.custom = joinCall(call.custom, custom, 'input');
    else if (!call.custom) call.function = joinCall(call.function, fn, 'arguments');
  }
  return true;
}

/** Returns a list made here with further entries. A copy for each chunk would take quadratic time. */
function extended(known: unknown, added: readonly unknown[]): unknown[] {
  const list: unknown[] = Array.isArray(known) ? known : [];
  for (const item of added) list.push(item);
  return list;
}

function joinCall(known: unknown, added: unknown, field: 'input' | 'arguments'): JsonObject {
  const [before, piece] = [isObject(known) ? known : {}, isObject(added) ? added : {}];
  return { name: textOf(before.name) + textOf(piece.name), [field]: textOf(before[field]) + textOf(piece[field]) };
}

function joinLogprobs(known: unknown, added: unknown): unknown {
  if (!isObject(added)) return known ?? null;
  const joined: Record<string, unknown> = isObject(known) ? known : {};
  for (const [key, value] of Object.entries(added)) {
    if (Array.isArray(value)) joined[key] = extended(joined[key], value);
    else if (known !== joined) joined[key] = value;
  }
  return joined;
}

/** A message with tool calls and no text has `content: null`, as in plain replies. */
function completed(choice: JsonObject): JsonObject {
  if (!isObject(choice.message)) return choice;
  const { message } = choice;
  return {
    ...choice,
    message: { ...message, content: textOf(message.content) === '' && message.tool_calls ? null : (message.content ?? null) },
  };
}

/** Writes a chat completion or completion as chunks. Null if it has no choices, or if its chunks would be far longer than the completion. */
export function chatToEvents(reply: JsonObject, withUsage: boolean): string | null {
  const { choices, usage, ...rest } = reply;
  if (!Array.isArray(choices)) return null;
  const head = { ...rest, object: rest.object === 'chat.completion' ? 'chat.completion.chunk' : rest.object };
  if (JSON.stringify(head).length * choices.length > repeatedMax) return null;
  const chunk = (choice: JsonObject): string => eventText({ ...head, choices: [choice], ...(withUsage ? { usage: null } : {}) });
  let stream = '';
  for (const choice of objectsIn(choices)) {
    const { index, message, text, finish_reason, logprobs, ...more } = choice;
    if (isObject(message)) {
      const { tool_calls, content_blocks, ...delta } = message;
      const calls =
        tool_calls === undefined ? {} : { tool_calls: objectsIn(tool_calls).map((call, at) => ({ index: at, ...call })) };
      const pieces = objectsIn(content_blocks).map((block, at) => ({ index: at, delta: block }));
      const blocks = pieces.length === 0 ? {} : { content_blocks: pieces };
      stream += chunk({ index, delta: { ...delta, ...calls, ...blocks }, logprobs: logprobs ?? null, finish_reason: null });
      stream += chunk({ index, delta: {}, logprobs: null, finish_reason, ...more });
    } else stream += chunk({ index, text, logprobs: logprobs ?? null, finish_reason, ...more });
  }
  if (withUsage) stream += eventText({ ...head, choices: [], usage: usage ?? null });
  return stream + eventText('[DONE]');
}
