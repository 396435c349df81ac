import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { withToolIndexes } from '../../formats/openai/tool-indexes.ts';
import { convertEvents } from '../convert-events.ts';
import { type InputReader, inputOf, inputReader } from './input-reader.ts';

/** Returns a chat completion in which the calls of these tools are calls of custom tools. */
export function withCustomCalls(completion: JsonObject, names: ReadonlySet<unknown>): JsonObject {
  const { choices } = completion;
  if (!Array.isArray(choices)) return completion;
  const customCall = (toolCall: unknown): unknown => {
    if (!isObject(toolCall) || !isObject(toolCall.function) || !names.has(toolCall.function.name)) return toolCall;
    const { type: _type, function: fn, ...beside } = toolCall;
    return { ...beside, type: 'custom', custom: { name: fn.name, input: inputOf(textOf(fn.arguments)) } };
  };
  return {
    ...completion,
    choices: choices.map((choice) => {
      const message = isObject(choice) ? choice.message : null;
      if (!isObject(message) || !Array.isArray(message.tool_calls)) return choice;
      return { ...choice, message: { ...message, tool_calls: message.tool_calls.map(customCall) } };
    }),
  };
}

/**
 * Changes the chunks of a chat stream in the same way. `inner` translates the provider's events to chunks; null if they are chunks
 * already. Pieces of arguments that add nothing to an input are left out.
 */
export function customCallStream(inner: StreamTranslator | null, names: ReadonlySet<unknown>): StreamTranslator {
  const indexed = withToolIndexes();
  /** The inputs of custom tools that have begun, by choice and index of the call. */
  const readers = new Map<unknown, Map<unknown, InputReader>>();

  const convert = (toolCall: JsonObject, open: Map<unknown, InputReader>): JsonObject[] => {
    const { index, type: _type, function: fn, ...beside } = toolCall;
    if (!isObject(fn)) return [toolCall];
    const known = open.get(index);
    if (!known && !names.has(fn.name)) return [toolCall];
    const reader = known ?? inputReader();
    open.set(index, reader);
    const input = reader.push(textOf(fn.arguments));
    if (!known) return [{ index, ...beside, type: 'custom', custom: { name: fn.name, input } }];
    return input === '' ? [] : [{ index, ...beside, custom: { input } }];
  };
  const rest = (open: Map<unknown, InputReader>): JsonObject[] => {
    const pieces = [...open].map(([index, reader]) => ({ index, custom: { input: reader.end() } }));
    open.clear();
    return pieces.filter(({ custom }) => custom.input !== '');
  };
  const convertChoice = (choice: JsonObject): JsonObject => {
    const delta = isObject(choice.delta) ? choice.delta : {};
    const toolCalls = objectsIn(delta.tool_calls);
    const isEnd = typeof choice.finish_reason === 'string';
    const open = readers.get(choice.index) ?? new Map<unknown, InputReader>();
    if (toolCalls.length === 0 && !(isEnd && open.size > 0)) return choice;
    readers.set(choice.index, open);
    const pieces = [...toolCalls.flatMap((toolCall) => convert(toolCall, open)), ...(isEnd ? rest(open) : [])];
    const { tool_calls: _calls, ...others } = delta;
    return { ...choice, delta: pieces.length === 0 ? others : { ...others, tool_calls: pieces } };
  };
  const convertEvent = (event: StreamEvent): StreamEvent[] => {
    if (!isObject(event.data) || !Array.isArray(event.data.choices)) return [event];
    const chunk = indexed(event.data);
    const given = objectsIn(chunk.choices);
    const choices = given.map(convertChoice);
    if (choices.every((choice, at) => choice === given[at])) return chunk === event.data ? [event] : [{ ...event, data: chunk }];
    return isObject(chunk.usage) || !choices.every(isEmpty) ? [{ ...event, data: { ...chunk, choices } }] : [];
  };

  return convertEvents(inner, convertEvent);
}

/** True for a choice of a chunk that states nothing. */
function isEmpty({ delta, finish_reason: reason }: JsonObject): boolean {
  return isObject(delta) && Object.keys(delta).length === 0 && typeof reason !== 'string';
}

/** Some servers send arguments as an object. */
function textOf(given: unknown): string {
  if (typeof given === 'string') return given;
  return isObject(given) ? JSON.stringify(given) : '';
}
