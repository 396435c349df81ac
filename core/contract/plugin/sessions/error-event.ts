import type { JsonObject } from '../../values/json/json.ts';

export interface SessionError {
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param: string | null;
}

/**
 * Returns an error event of OpenAI's realtime API as a text message. `about` is the client's event that caused it, null for none: the error names
 * its `event_id`. `more` are further members of the event.
 */
export function sessionErrorEvent(id: string, error: SessionError, about: JsonObject | null, more: JsonObject = {}): Uint8Array {
  const eventId = typeof about?.event_id === 'string' ? about.event_id : null;
  return Buffer.from(JSON.stringify({ type: 'error', event_id: id, error: { ...error, event_id: eventId }, ...more }));
}
