import { isObject, type JsonObject, objectsIn } from '../../core/contract/values/json/json.ts';
import { depthMax, tooDeep } from './depth.ts';

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const indexOf = (item: JsonObject, key = 'index'): number => (typeof item[key] === 'number' ? item[key] : 0);

type Accumulated = Record<string, JsonObject>;

/** Returns the body that the same reply would have without streaming, from the events of a stream. */
export const bodies = {
  chat(events: readonly JsonObject[]): JsonObject {
    const choices: Accumulated = {};
    for (const choice of events.flatMap((event) => objectsIn(event.choices))) {
      const index = indexOf(choice);
      const isChat = isObject(choice.delta);
      const known = choices[index] ?? (isChat ? { index, message: { role: 'assistant', content: '' } } : { index, text: '' });
      choices[index] = known;
      if (isObject(choice.delta) && isObject(known.message)) addDelta(known.message, choice.delta);
      else known.text = stringOf(known.text) + stringOf(choice.text);
      if (typeof choice.finish_reason === 'string') known.finish_reason = choice.finish_reason;
    }
    const { object, choices: _choices, ...head } = events.find((event) => Array.isArray(event.choices)) ?? {};
    const usage = events.findLast((event) => isObject(event.usage))?.usage;
    return {
      ...head,
      ...(typeof object === 'string' ? { object: object.replace(/\.chunk$/, '') } : {}),
      choices: Object.values(choices),
      ...(usage === undefined ? {} : { usage }),
    };
  },
  messages(events: readonly JsonObject[]): JsonObject {
    const content: Accumulated = {};
    for (const event of events) {
      const at = indexOf(event);
      if (event.type === 'content_block_start' && isObject(event.content_block)) {
        const { citations } = event.content_block;
        content[at] = { ...event.content_block, ...(Array.isArray(citations) ? { citations: [...citations] } : {}) };
      }
      if (event.type !== 'content_block_delta' || !isObject(event.delta)) continue;
      // Clients that read deltas also read those of a block that no event has started.
      const block = content[at] ?? { type: 'text', text: '' };
      content[at] = block;
      const { type: _type, signature: _signature, citation, ...texts } = event.delta;
      for (const [key, value] of Object.entries(texts)) join(block, key, value);
      if (citation === undefined) continue;
      if (!Array.isArray(block.citations)) block.citations = [];
      (block.citations as unknown[]).push(citation);
    }
    const { message } = events.find(({ type }) => type === 'message_start') ?? {};
    const { delta, usage } = events.findLast(({ type }) => type === 'message_delta') ?? {};
    const head = isObject(message) ? message : {};
    return {
      ...head,
      ...(isObject(delta) ? delta : {}),
      // The events of the blocks decide, whatever `content` the other events state.
      content: Object.values(content),
      ...(isObject(usage) ? { usage: { ...(isObject(head.usage) ? head.usage : {}), ...usage } } : {}),
    };
  },
  responses(events: readonly JsonObject[]): JsonObject {
    const last = events.findLast(({ response }) => isObject(response) && Array.isArray(response.output))?.response;
    const response = isObject(last) ? last : {};
    const items = objectsIn(response.output);
    // Some servers send items that the last event does not repeat.
    if (items.length === 0) {
      for (const { type, item } of events) if (type === 'response.output_item.done' && isObject(item)) items.push(item);
    }
    const known = new Set(items.flatMap(argumentsIn));
    const others = callArguments(events).filter((text) => !known.has(text));
    items.push(...others.map((text) => ({ type: 'function_call', arguments: text })));
    return { ...response, output: items };
  },
};

/** Returns the arguments of the calls in the events of Responses, each once. */
function callArguments(events: readonly JsonObject[]): string[] {
  const joined = new Map<number, string>();
  const whole: string[] = [];
  for (const event of events) {
    const at = indexOf(event, 'output_index');
    const isPiece = /_(?:arguments|input|code)\.delta$/.test(stringOf(event.type));
    if (isPiece) joined.set(at, stringOf(joined.get(at)) + stringOf(event.delta));
    else whole.push(...argumentsIn(event), ...(isObject(event.item) ? argumentsIn(event.item) : []));
  }
  return [...new Set([...joined.values(), ...whole])];
}

/** Returns the arguments of a call: those of a function, the text of a custom tool, or code. */
function argumentsIn(item: JsonObject): string[] {
  return ['arguments', 'input', 'code'].map((field) => stringOf(item[field])).filter((text) => text !== '');
}

/** Member of a body that holds the content of the reply. */
export const contentOf = { chat: 'choices', messages: 'content', responses: 'output' } as const;

function addDelta(message: JsonObject, { role: _role, content, ...delta }: JsonObject): void {
  message.content = stringOf(message.content) + stringOf(content);
  for (const part of objectsIn(content)) message.content += stringOf(part.text);
  for (const [key, value] of Object.entries(delta)) join(message, key, value);
}

/** Members that deltas repeat instead of continuing. */
export const repeated: ReadonlySet<string> = new Set(['id', 'index', 'type']);
/**
 * Adds a piece of a delta to a member, joining texts at any depth. A list becomes an object by index, because the index of an entry can be any
 * number. Under a name that also has a text, only the text counts. Throws Error for a value that is nested too deeply to be read.
 */
function join(all: JsonObject, key: string, piece: unknown, depth = 0): void {
  if (depth > depthMax) throw tooDeep();
  // An assignment would set the prototype.
  const set = (value: unknown) =>
    Object.defineProperty(all, key, { value, enumerable: true, configurable: true, writable: true });
  const known = Object.hasOwn(all, key) ? all[key] : undefined;
  if (typeof piece === 'string' && !repeated.has(key)) set(stringOf(known) + piece);
  else if (typeof piece !== 'object' || piece === null) set(known ?? piece);
  else if (typeof known !== 'string') {
    const inner: JsonObject = isObject(known) ? known : {};
    set(inner);
    for (const [name, value] of Object.entries(piece)) {
      const isNumbered = Array.isArray(piece) && isObject(value) && typeof value.index === 'number';
      join(inner, isNumbered ? `${value.index}` : name, value, depth + 1);
    }
  }
}
