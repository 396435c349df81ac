import { failureFields } from '../../failure-fields.ts';
import type { AdminServices } from '../admin-services.ts';
import { RawReply } from '../reply/raw-reply.ts';
import type { Repeat, StoredReply } from './repeat.ts';

/** The current request: its effects so far, and the headers of its reply. */
export interface Replying {
  readonly id: string;
  readonly wrote: () => boolean;
  readonly headers: Record<string, string>;
  readonly log: AdminServices['log'];
}

/**
 * Replies with the result of `handle`, or with the stored reply to the first request with the same `idempotency-key`. `repeat`
 * null: no key was sent.
 */
export async function replyOnce(repeat: Repeat | null, call: Replying, handle: () => Promise<unknown>): Promise<unknown> {
  if (repeat === null) return handle();
  const known = await repeat.find();
  if (known) return replay(known, call);
  try {
    const reply = await handle();
    await keep(repeat, reply, call);
    return reply;
  } catch (thrown) {
    // The request may have been rejected because the first request with this key has just done the same.
    const first = call.wrote() ? null : await repeat.find();
    if (first) return replay(first, call);
    throw thrown;
  }
}

function replay(stored: StoredReply, { headers }: Replying): unknown {
  Object.assign(headers, stored.headers, { 'idempotency-replayed': 'true' });
  return stored.raw ? new RawReply(stored.reply as string | null, stored.raw.headers, stored.raw.status) : stored.reply;
}

/**
 * Stores the reply. The change is already committed; if storing fails, a repeated request is refused instead of being run again.
 */
async function keep(repeat: Repeat, reply: unknown, { id, headers, log }: Replying): Promise<void> {
  const { etag } = headers;
  const kept: StoredReply['headers'] = etag === undefined ? {} : { etag };
  try {
    if (!(reply instanceof RawReply)) await repeat.keep({ reply, headers: kept });
    else {
      const { body, ...raw } = reply;
      // No create replies with bytes.
      if (!(body instanceof Uint8Array)) await repeat.keep({ reply: body, raw, headers: kept });
    }
  } catch (cause) {
    log.error({ requestId: id, ...failureFields(cause) }, 'could not store the reply for an idempotency-key');
  }
}
