import { type JsonObject, parseObject } from '../../../core/contract/values/json/json.ts';
import { framesOf } from '../../../core/contract/values/text/event-frames.ts';
import { dataOf } from '../../../core/contract/values/text/event-text.ts';

/** Reads the JSON events of a stream. Comments and `[DONE]` are left out. Null if an event is not a JSON object. */
export function readEvents(stream: string): JsonObject[] | null {
  const events: JsonObject[] = [];
  for (const frame of framesOf(stream)) {
    const data = dataOf(frame)?.trim() ?? '';
    if (data === '' || data === '[DONE]') continue;
    const event = parseObject(data);
    if (event === null) return null;
    events.push(event);
  }
  return events;
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const indexOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Maximum characters of the fields that the events of a converted reply repeat. */
export const repeatedMax = 16_000_000;
