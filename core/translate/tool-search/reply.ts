import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { convertEvents } from '../convert-events.ts';
import { convertItems } from '../convert-items.ts';
import { searchName } from './request.ts';

/** Returns a response in which calls of the function are tool searches. */
export function withSearchCalls(response: JsonObject, asked: JsonObject): JsonObject {
  return convertItems(response, searchItem, asked);
}

/**
 * Changes the events of a Responses stream in the same way. `inner` translates the provider's events; null if it needs none. A search has
 * no events for its arguments: its last item has all of them.
 */
export function searchCallStream(inner: StreamTranslator | null, asked: JsonObject): StreamTranslator {
  /** Indexes of items that are searches. */
  const searches = new Set<unknown>();
  let sequence = 0;
  const convert = (data: JsonObject): JsonObject | null => {
    const { item, response, output_index: index } = data;
    if (isObject(response)) return { ...data, response: withSearchCalls(response, asked) };
    if (!isObject(item))
      return searches.has(index) && String(data.type).startsWith('response.function_call_arguments.') ? null : data;
    const search = searchItem(item);
    if (search === item) return data;
    searches.add(index);
    return { ...data, item: search };
  };
  const convertEvent = (event: StreamEvent): StreamEvent[] => {
    if (!isObject(event.data)) return [event];
    const data = convert(event.data);
    if (data === null) return [];
    return [{ ...event, data: 'sequence_number' in data ? { ...data, sequence_number: sequence++ } : data }];
  };
  return convertEvents(inner, convertEvent);
}

function searchItem(item: unknown): unknown {
  if (!isObject(item) || item.type !== 'function_call' || item.name !== searchName) return item;
  const { name: _name, arguments: text, ...others } = item;
  const given = typeof text === 'string' ? parseObject(text) : text;
  return { ...others, type: 'tool_search_call', execution: 'client', arguments: given ?? {} };
}
