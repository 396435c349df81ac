import { type JsonObject, parseObject } from '../../../core/contract/values/json/json.ts';

/** Reads the JSON events of a stream. Comments and `[DONE]` are left out. Null if an event is not a JSON object. */
export function readEvents(stream: string): JsonObject[] | null {
  const events: JsonObject[] = [];
  for (const block of stream.split(/\r?\n\r?\n/)) {
    const data = block
      .split(/\r?\n/)
      .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
      .join('\n');
    if (data === '' || data === '[DONE]') continue;
    const event = parseObject(data);
    if (event === null) return null;
    events.push(event);
  }
  return events;
}

/** Writes one event whose name is its `type`. */
export function namedEvent(event: JsonObject & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Writes one event without a name. */
export function dataEvent(event: JsonObject): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const indexOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
