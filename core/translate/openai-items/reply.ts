import type { StreamEvent, StreamTranslator } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/** Returns a response that repeats the tools of the client's request, without those of its items. */
export function withOwnTools(response: JsonObject, asked: JsonObject): JsonObject {
  return { ...response, tools: asked.tools ?? [] };
}

/** Changes the events of a Responses stream in the same way. `inner` translates the provider's events; null if it needs none. */
export function streamWithOwnTools(inner: StreamTranslator | null, asked: JsonObject): StreamTranslator {
  const convert = (event: StreamEvent): StreamEvent => {
    const { data } = event;
    if (!isObject(data) || !isObject(data.response)) return event;
    return { ...event, data: { ...data, response: withOwnTools(data.response, asked) } };
  };
  return {
    push: (event) => (inner === null ? [event] : inner.push(event)).map(convert),
    end: () => (inner?.end() ?? []).map(convert),
  };
}
