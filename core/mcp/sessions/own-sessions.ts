import { newEntryCache } from '../../contract/entry-cache.ts';
import type { Circuits } from '../../contract/plugin/services/circuits.ts';
import type { UpstreamSender, UpstreamTimeouts } from '../../contract/provider/upstream.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import { enterCircuit } from '../../json-rpc/circuit.ts';
import type { OpenStreams } from '../../json-rpc/open-streams.ts';
import { calledServer } from '../server/server-errors.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import { closeSession, type OwnClientParts, type OwnSession } from './own-client.ts';
import type { QuestionStream, QuestionStreams } from './question-stream.ts';

/** Maximum lifetime of a session, and maximum time without use, in milliseconds. */
const lifeMs = 600_000;
const idleMs = 300_000;
const sessionsMax = 10_000;
/** A session that another one has replaced is closed after this time. */
const closeMs = 300_000;

/** Sessions that the gateway opens for callers whose requests name none: one per server and caller. */
export interface OwnSessions {
  /** Returns the session of the caller, and opens one with `call` if there is none. Throws GatewayError `upstream_…`. */
  get(server: ServerSettings, caller: string): Promise<OwnSession>;
  /** The client of the gateway for requests in a session. */
  partsOf(server: ServerSettings): OwnClientParts;
  /** Runs requests of the gateway as one call in the circuit of the server. Throws GatewayError `unavailable` while the circuit is open. */
  call<Result>(server: ServerSettings, work: (parts: OwnClientParts) => Promise<Result>): Promise<Result>;
  /** Opens the stream of a session for questions of the server. Resolves when it is open, or if the server has none; null: there is nothing to wait for. */
  listen(server: ServerSettings, caller: string, session: OwnSession): Promise<void> | null;
  /** Removes a session that the server has ended. */
  drop(server: ServerSettings, caller: string, session: OwnSession): void;
}

interface Entry {
  /** With the credentials of the last request. Tokens may expire during a session. */
  parts: OwnClientParts;
  readonly session: Promise<OwnSession>;
  readonly fingerprint: string;
  readonly openedAtMs: number;
  usedAtMs: number;
  /** Null while the session is being opened. */
  opened: OwnSession | null;
  /** Null until the first call that the server may ask about. */
  questions: QuestionStream | null;
}

/** `open` begins a session, and `questionsOf` follows its stream. */
export function createOwnSessions(
  sender: UpstreamSender,
  clock: Clock,
  timeouts: UpstreamTimeouts,
  circuits: Circuits,
  open: (parts: OwnClientParts) => Promise<OwnSession>,
  streams: OpenStreams,
  questionsOf: QuestionStreams,
): OwnSessions {
  const entries = newEntryCache<string, Entry>(sessionsMax, {
    disposeAfter(entry, _key, reason) {
      // Servers end the calls of a session with it. A connection of HTTP+SSE ends after its calls.
      if (reason === 'set' && !entry.opened?.sse) setTimeout(close, closeMs, entry).unref();
      else close(entry);
    },
  });
  const close = ({ parts, session, questions }: Entry): void => {
    questions?.end();
    void session.then((opened) => closeSession(parts, opened)).catch(() => undefined);
  };
  const keyOf = (server: ServerSettings, caller: string): string => `${server.document.id} ${caller}`;
  const isUsable = (entry: Entry, server: ServerSettings, nowMs: number): boolean =>
    entry.fingerprint === server.fingerprint &&
    !entry.opened?.sse?.isClosed &&
    nowMs - entry.openedAtMs < lifeMs &&
    nowMs - entry.usedAtMs < idleMs;

  const timeoutsOf = ({ document: { timeoutMs: ms } }: ServerSettings): UpstreamTimeouts =>
    ms ? { ...timeouts, firstByteMs: ms, idleMs: ms, totalMs: ms } : timeouts;
  const partsOf = (server: ServerSettings): OwnClientParts => ({
    ...{ sender, server, timeouts: timeoutsOf(server), streams },
  });

  const call: OwnSessions['call'] = async (server, work) => {
    const circuit = enterCircuit(calledServer(server), circuits);
    let status: number | null = null;
    try {
      const result = await work({ ...partsOf(server), onStatus: (received) => (status = received) });
      circuit?.end(status ?? 200);
      return result;
    } catch (thrown) {
      circuit?.end(isAboutReply(thrown) ? status : 502);
      throw thrown;
    }
  };

  return {
    partsOf,
    call,
    get(server, caller) {
      const key = keyOf(server, caller);
      const nowMs = clock.elapsed();
      const known = entries.get(key);
      if (known && isUsable(known, server, nowMs)) {
        known.usedAtMs = nowMs;
        known.parts = partsOf(server);
        return known.session;
      }
      const parts = partsOf(server);
      const session = call(server, open);
      const entry: Entry = {
        ...{ parts, session, fingerprint: server.fingerprint },
        ...{ openedAtMs: nowMs, usedAtMs: nowMs, opened: null, questions: null },
      };
      entries.set(key, entry);
      session.then(
        (opened) => {
          entry.opened = opened;
        },
        () => {
          if (entries.peek(key) === entry) entries.delete(key);
        },
      );
      return session;
    },
    listen(server, caller, session) {
      if (session.sessionId === null || session.sse) return null;
      const entry = entries.peek(keyOf(server, caller));
      if (entry?.opened !== session) return null;
      entry.questions ??= questionsOf(() => entry.parts, session);
      return entry.questions.open();
    },
    drop(server, caller, session) {
      const key = keyOf(server, caller);
      if (entries.peek(key)?.opened === session) entries.delete(key);
    },
  };
}

/** True for an error about a reply of the server, whose status is known. */
function isAboutReply(thrown: unknown): boolean {
  return thrown instanceof GatewayError && (thrown.code === 'upstream_status' || thrown.code === 'upstream_invalid');
}
