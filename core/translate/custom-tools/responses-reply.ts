import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { convertEvents } from '../convert-events.ts';
import { convertItems } from '../convert-items.ts';
import { type InputReader, inputOf, inputReader } from './input-reader.ts';

/** Returns a response in which the calls of these tools are calls of custom tools. */
export function withCustomItems(response: JsonObject, names: ReadonlySet<unknown>, asked: JsonObject): JsonObject {
  return convertItems(response, (item) => customItem(item, names), asked);
}

/** Changes the events of a Responses stream in the same way. `inner` translates the provider's events; null if it needs none. */
export function customItemStream(
  inner: StreamTranslator | null,
  names: ReadonlySet<unknown>,
  asked: JsonObject,
): StreamTranslator {
  /** The inputs of custom tools that have begun, by index of the item. */
  const readers = new Map<unknown, { readonly reader: InputReader; input: string }>();
  let sequence = 0;

  const deltaOf = (data: JsonObject, delta: string): JsonObject[] => {
    const { item_id, output_index } = data;
    return delta === '' ? [] : [{ type: 'response.custom_tool_call_input.delta', item_id, output_index, delta }];
  };
  const convert = (data: JsonObject): JsonObject[] => {
    const { type, item, response, output_index: index } = data;
    const known = readers.get(index);
    if (isObject(response)) return [{ ...data, response: withCustomItems(response, names, asked) }];
    if (isObject(item)) {
      const custom = customItem(item, names);
      if (custom === item) return [data];
      if (type === 'response.output_item.added') readers.set(index, { reader: inputReader(), input: '' });
      return [{ ...data, item: custom }];
    }
    if (!known) return [data];
    if (type === 'response.function_call_arguments.delta') {
      const delta = known.reader.push(String(data.delta ?? ''));
      known.input += delta;
      return deltaOf(data, delta);
    }
    if (type !== 'response.function_call_arguments.done') return [data];
    const { arguments: text, name: _name, ...others } = data;
    const rest = known.reader.end();
    const input = typeof text === 'string' ? inputOf(text) : known.input + rest;
    return [...deltaOf(data, rest), { ...others, type: 'response.custom_tool_call_input.done', input }];
  };
  const convertEvent = (event: StreamEvent): StreamEvent[] => {
    if (!isObject(event.data)) return [event];
    return convert(event.data).map((data) => {
      // Some pieces of arguments add no text, so the numbers of the provider would have gaps.
      const numbered = typeof event.data !== 'string' && 'sequence_number' in event.data;
      const { type, sequence_number: _number, ...fields } = data;
      return {
        event: event.event === null ? null : String(type),
        data: numbered ? { type, sequence_number: sequence++, ...fields } : data,
      };
    });
  };

  return convertEvents(inner, convertEvent);
}

function customItem(item: unknown, names: ReadonlySet<unknown>): unknown {
  if (!isObject(item) || item.type !== 'function_call' || !names.has(item.name)) return item;
  const { arguments: text, ...others } = item;
  return { ...others, type: 'custom_tool_call', input: typeof text === 'string' ? inputOf(text) : '' };
}
