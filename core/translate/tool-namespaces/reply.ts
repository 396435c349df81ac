import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { convertEvents } from '../convert-events.ts';
import { convertItems } from '../convert-items.ts';
import type { NamespacedTool } from './request.ts';

type Tools = ReadonlyMap<unknown, NamespacedTool>;

/** Returns a response in which calls of these tools have the name and the namespace that the client gave. */
export function withNamespaces(response: JsonObject, tools: Tools, asked: JsonObject): JsonObject {
  return convertItems(response, (item) => namespacedItem(item, tools), asked);
}

/** Changes the events of a Responses stream in the same way. `inner` translates the provider's events; null if it needs none. */
export function namespaceStream(inner: StreamTranslator | null, tools: Tools, asked: JsonObject): StreamTranslator {
  const convert = (event: StreamEvent): StreamEvent => {
    const { data } = event;
    if (!isObject(data)) return event;
    const { item, response, name } = data;
    if (isObject(response)) return { ...event, data: { ...data, response: withNamespaces(response, tools, asked) } };
    const named = namespacedItem(item, tools);
    if (named !== item) return { ...event, data: { ...data, item: named } };
    const tool = tools.get(name);
    return tool ? { ...event, data: { ...data, name: tool.name } } : event;
  };
  return convertEvents(inner, (event) => [convert(event)]);
}

function namespacedItem(item: unknown, tools: Tools): unknown {
  if (!isObject(item) || (item.type !== 'function_call' && item.type !== 'custom_tool_call')) return item;
  const tool = tools.get(item.name);
  return tool ? { ...item, ...tool } : item;
}
