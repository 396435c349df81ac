import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { newEntryCache } from '../../contract/entry-cache.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { Peers, Question } from '../peers/peers.ts';
import { noSessionDetail } from '../server/server-errors.ts';
import type { OwnClientParts } from '../sessions/own-client.ts';
import { openSse, type SseConnection } from './sse-connection.ts';
import { SseInbox } from './sse-inbox.ts';

const sessionsMax = 10_000;
/** A session ends after this time without a message or a stream of its client. */
const idleMs = 1_800_000;

/** The process that has the connection of a session, and the id of the session there. */
export interface SseSessionAddress {
  readonly process: string;
  readonly id: string;
}

const order = v.object({
  action: v.picklist(['check', 'request', 'notify', 'listen', 'end']),
  id: v.string(),
  message: v.optional(v.record(v.string(), v.unknown()), {}),
  headers: v.optional(v.array(v.string()), []),
});
type Order = v.InferOutput<typeof order>;

/**
 * Sessions of clients at servers of HTTP+SSE. A session has one connection, which one process holds. The others pass messages of the
 * client to that process. A session ends with its connection.
 */
export interface SseSessions {
  readonly counts: {
    /** Messages of servers that were dropped: too many waited for their client, or one was too long for the process of the client. */
    readonly dropped: number;
  };
  /** Opens a session with the `initialize` of a client. Rejects with GatewayError `upstream_…`. */
  open(parts: OwnClientParts, initialize: JsonObject): Promise<{ address: SseSessionAddress; response: JsonObject }>;
  /**
   * `request` resolves with the response, `listen` with the end of the session. `question.onEvent` receives messages of the server. Rejects
   * with GatewayError; its `detail` is `noSessionDetail` if the session has ended.
   */
  run(address: SseSessionAddress, given: Omit<Order, 'id'>, question: Question): Promise<JsonObject>;
}

interface Session {
  readonly connection: SseConnection;
  readonly inbox: SseInbox;
  idle: NodeJS.Timeout;
}

/** Holds the sessions of the older SSE transport in this process, and serves them to the other gateway processes. */
export function createSseSessions(peers: Peers): SseSessions {
  const sessions = newEntryCache<string, Session>(sessionsMax, {
    disposeAfter({ connection, inbox, idle }) {
      clearTimeout(idle);
      inbox.close();
      connection.end();
    },
  });
  peers.serve('sse-session', (value, emit, cancelled) => {
    const question = { onEvent: emit, onCancel: (cancel: () => void) => cancelled.addEventListener('abort', cancel) };
    return runHere(v.parse(order, value), question);
  });

  let dropped = 0;
  return {
    counts: {
      get dropped() {
        return dropped + peers.counts.dropped;
      },
    },
    async open(parts, initialize) {
      const id = randomUUID();
      const inbox = new SseInbox(() => dropped++);
      const connection = await openSse(parts, (message) => {
        inbox.deliver(message);
        return true;
      });
      try {
        const response = await connection.request(initialize, []);
        const idle = setTimeout(() => sessions.delete(id), idleMs).unref();
        sessions.set(id, { connection, inbox, idle });
        void connection.closed.then(() => sessions.delete(id));
        return { address: { process: peers.self, id }, response };
      } catch (thrown) {
        connection.end();
        throw thrown;
      }
    },
    run(address, given, question) {
      const { process, id } = address;
      return process === peers.self
        ? runHere({ ...given, id }, question)
        : peers.ask(process, 'sse-session', { ...given, id }, question);
    },
  };

  async function runHere({ action, id, message, headers }: Order, question: Question): Promise<JsonObject> {
    const session = sessions.get(id);
    if (session === undefined) throw ended();
    session.idle.refresh();
    switch (action) {
      case 'check':
        return {};
      case 'request':
        return request(session, message, headers, question);
      case 'notify':
        // The request has another id at the server.
        if (message.method === 'notifications/cancelled') session.connection.cancel(message);
        else await session.connection.notify(message, headers);
        return {};
      case 'listen':
        return listen(session, question);
      case 'end':
        sessions.delete(id);
        return {};
    }
  }

  async function request(
    { connection, inbox }: Session,
    message: JsonObject,
    headers: HeaderList,
    { onEvent, onCancel }: Question,
  ): Promise<JsonObject> {
    const leave = inbox.addRequest(onEvent);
    try {
      return await connection.request(message, headers, { onProgress: onEvent, onCancel });
    } finally {
      leave();
    }
  }

  async function listen({ inbox, idle }: Session, { onEvent, onCancel }: Question): Promise<JsonObject> {
    const awake = setInterval(() => idle.refresh(), idleMs / 2).unref();
    await inbox.listen(onEvent, onCancel);
    clearInterval(awake);
    return {};
  }
}

function ended(): GatewayError {
  return new GatewayError('upstream_reset', { message: 'The session has ended', detail: noSessionDetail });
}
