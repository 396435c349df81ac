import { createParser } from 'eventsource-parser';
import type { StreamEvent } from '../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';

/** The events of a server-sent event stream as text, in the form that readers and translators receive. */
export function eventsOfText(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  const parser = createParser({
    onEvent: (message) => events.push({ event: message.event ?? null, data: dataOf(message.data) }),
    onError: (error) => {
      throw error;
    },
  });
  parser.feed(text);
  parser.reset({ consume: true });
  return events;
}

/** The same events as text again, for tests that serve them. */
export function textOfEvents(events: readonly StreamEvent[]): string {
  return events
    .map(({ event, data }) => {
      const payload = typeof data === 'string' ? data : JSON.stringify(data);
      return `${event === null ? '' : `event: ${event}\n`}data: ${payload}\n\n`;
    })
    .join('');
}

function dataOf(text: string): JsonObject | string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : text;
  } catch {
    return text;
  }
}
