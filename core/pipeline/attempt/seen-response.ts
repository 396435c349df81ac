import type { HeaderList } from '../../contract/values/http/http.ts';
import type { Seen } from '../usage/estimate-usage.ts';
import { EventStream } from './event-stream.ts';
import type { HeldReply } from './held-reply.ts';
import type { Outgoing } from './outgoing-call.ts';
import type { PassingEvents } from './passing-events.ts';
import { isStream } from './reply-body.ts';

/** Returns the data of a response that did not complete. A stream that is held for a plugin is read as far as it has arrived. */
export function seenResponse(
  { operation, operationCall }: Pick<Outgoing, 'operation' | 'operationCall'>,
  headers: HeaderList,
  passing: PassingEvents | null,
  held: HeldReply | null,
): Seen {
  if (passing !== null) return { usage: passing.usage, events: passing.count, body: null };
  const body = held?.body ?? null;
  const unread = { usage: null, events: 0, body };
  if (body === null || !operation || !operationCall?.stream || !isStream(headers, operation)) return unread;
  try {
    const reader = operation.streamReader();
    const events = new EventStream(reader, null, operation.decodeStream);
    events.push(body);
    return { usage: reader.usage(), events: events.count, body: null };
  } catch {
    // The length of its text is known in any case.
    return unread;
  }
}
