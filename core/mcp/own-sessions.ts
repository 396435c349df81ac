import { newEntryCache } from '../contract/entry-cache.ts';
import type { UpstreamSender, UpstreamTimeouts } from '../contract/provider/upstream.ts';
import type { Clock } from '../contract/values/clock.ts';
import type { OpenStreams } from '../json-rpc/open-streams.ts';
import { closeSession, type OwnClientParts, type OwnSession } from './own-client.ts';
import type { ServerSettings } from './server-settings.ts';

/** A session lives this long, and this long without use. */
const lifeMs = 600_000;
const idleMs = 300_000;
const sessionsMax = 10_000;

/** Sessions that the gateway opens for callers whose requests name none: one per server and caller. */
export interface OwnSessions {
  /** Returns the session of the caller, and opens one if there is none. Throws GatewayError `upstream_…`. */
  get(server: ServerSettings, caller: string): Promise<OwnSession>;
  /** The client of the gateway for requests in a session. */
  partsOf(server: ServerSettings): OwnClientParts;
  /** Forgets a session that the server has ended. */
  drop(server: ServerSettings, caller: string, session: OwnSession): void;
}

interface Entry {
  readonly parts: OwnClientParts;
  readonly session: Promise<OwnSession>;
  readonly fingerprint: string;
  readonly openedAtMs: number;
  usedAtMs: number;
  /** Null while the session is being opened. */
  opened: OwnSession | null;
}

/** `open` begins a session. */
export function createOwnSessions(
  sender: UpstreamSender,
  clock: Clock,
  timeouts: UpstreamTimeouts,
  open: (parts: OwnClientParts) => Promise<OwnSession>,
  streams?: OpenStreams,
): OwnSessions {
  const entries = newEntryCache<string, Entry>(sessionsMax, {
    disposeAfter: ({ parts, session }) => {
      void session.then((opened) => closeSession(parts, opened)).catch(() => undefined);
    },
  });
  const keyOf = (server: ServerSettings, caller: string): string => `${server.document.id} ${caller}`;
  const isUsable = (entry: Entry, server: ServerSettings, nowMs: number): boolean =>
    entry.fingerprint === server.fingerprint &&
    !entry.opened?.sse?.isClosed &&
    nowMs - entry.openedAtMs < lifeMs &&
    nowMs - entry.usedAtMs < idleMs;

  const timeoutsOf = ({ document: { timeoutMs: ms } }: ServerSettings): UpstreamTimeouts =>
    ms ? { ...timeouts, firstByteMs: ms, idleMs: ms, totalMs: ms } : timeouts;
  const partsOf = (server: ServerSettings): OwnClientParts => ({
    ...{ sender, server, timeouts: timeoutsOf(server) },
    ...(streams ? { streams } : {}),
  });

  return {
    partsOf,
    get(server, caller) {
      const key = keyOf(server, caller);
      const nowMs = clock.elapsed();
      const known = entries.get(key);
      if (known && isUsable(known, server, nowMs)) {
        known.usedAtMs = nowMs;
        return known.session;
      }
      const parts = partsOf(server);
      const session = open(parts);
      const entry: Entry = {
        ...{ parts, session, fingerprint: server.fingerprint },
        ...{ openedAtMs: nowMs, usedAtMs: nowMs, opened: null },
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
    drop(server, caller, session) {
      const key = keyOf(server, caller);
      if (entries.peek(key)?.opened === session) entries.delete(key);
    },
  };
}
