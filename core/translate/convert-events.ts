import type { StreamEvent, StreamTranslator } from '../contract/provider/stream-event.ts';

/** Converts each event of `inner`, which translates the provider's events; null: the events of the provider itself. */
export function convertEvents(inner: StreamTranslator | null, convert: (event: StreamEvent) => StreamEvent[]): StreamTranslator {
  return {
    push: (event) => (inner === null ? convert(event) : inner.push(event).flatMap(convert)),
    end: () => (inner?.end() ?? []).flatMap(convert),
  };
}
