import type { StreamEvent } from '../../../../../core/contract/provider/stream-event.ts';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';
import type { ModelReply } from '../scenarios.ts';

/** The wire format of one API's responses. */
export interface Wire {
  plain(reply: ModelReply): JsonObject;
  stream(reply: ModelReply): StreamEvent[];
  /** Encodes events. Absent: server-sent events. */
  frames?(events: readonly StreamEvent[]): Buffer;
  readonly streamType?: string;
  /** The event with which the provider ends a stream that it cannot continue. */
  readonly fault: StreamEvent;
  /** Its reply of status 429. */
  readonly limited: JsonObject;
}

/** A text in two pieces, as in streams. */
export function halves(text: string): [string, string] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)];
}

export function data(value: JsonObject | string): StreamEvent {
  return { event: null, data: value };
}

/** Named after the `type` of its data. */
export function named(value: JsonObject): StreamEvent {
  return { event: String(value.type), data: value };
}
