import { hash } from 'node:crypto';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { watchCaller } from '../../json-rpc/watch-caller.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Work } from '../exchange.ts';
import type { EventReply } from '../sse/sse-reply.ts';

/** Documents are compared this often. */
const lookMs = 1_000;
/** Lists are read again after this time, because a server may have changed its own. */
const readMs = 30_000;

/** The documents and lists of an endpoint that a stream follows. */
export interface Watched {
  /** Documents of the endpoint and of the servers behind it; null if the caller has no access to the endpoint any more. */
  documents(): Promise<readonly unknown[] | null>;
  /** The lists of the caller by their notice (`notifications/tools/list_changed`). */
  lists(): Promise<Readonly<Record<string, readonly JsonObject[]>>>;
}

/** Sends a notice for each list that changes, until the client disconnects, loses its access, or the process stops. */
export async function streamChanges(
  { ctx, parts, options }: Pick<Work, 'ctx' | 'parts' | 'options'>,
  reply: EventReply,
  watched: Watched,
  noticeOf: (method: string) => JsonObject,
): Promise<AttemptReply> {
  const { clock } = options.services;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  ctx.abortUpstream = end;
  const removed = parts.openStreams.add(end);
  // The documents show if the caller has lost its access to the endpoint.
  const unwatch = watchCaller(ctx, () => undefined, end);
  if (ctx.aborted) end();
  let documents: readonly unknown[] | null = null;
  let digests: Readonly<Record<string, string>> | null = null;
  let readAtMs = 0;
  let isLooking = true;
  // The head has been sent: a failure is repeated with the next look.
  const looked = (): Promise<void> =>
    look()
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  await looked();
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void looked();
  }, lookMs).unref();
  await ended;
  clearInterval(timer);
  unwatch();
  removed();
  return reply.end(null);

  async function look(): Promise<void> {
    const found = await watched.documents();
    if (found === null) return end();
    const isSame = digests !== null && found.length === documents?.length && found.every((one, at) => one === documents?.[at]);
    if (isSame && clock.elapsed() - readAtMs < readMs) return;
    const now = await digestsOf(watched);
    for (const [method, digest] of Object.entries(now)) {
      if (digests !== null && digests[method] !== digest) reply.send(noticeOf(method));
    }
    documents = found;
    digests = now;
    readAtMs = clock.elapsed();
  }
}

async function digestsOf(watched: Watched): Promise<Record<string, string>> {
  const lists = await watched.lists();
  return Object.fromEntries(Object.entries(lists).map(([method, items]) => [method, hash('sha256', JSON.stringify(items))]));
}
