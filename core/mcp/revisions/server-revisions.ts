import { LRUCache } from 'lru-cache';
import type { Clock } from '../../contract/values/time/clock.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import type { Revisions } from './translated-reader.ts';

/** A server is asked again after this time. */
const lifeMs = 600_000;
const serversMax = 10_000;

/** Stores the revisions of servers that refused the revision of a client. All other servers support both kinds, or were not called yet. */
export interface ServerRevisions {
  only(server: ServerSettings): Revisions | null;
  note(server: ServerSettings, revisions: Revisions | null): void;
}

/** Remembers for some time which revisions of MCP a server supports, so that not every connection has to find out. */
export function createServerRevisions(clock: Clock): ServerRevisions {
  const known = new LRUCache<string, Revisions>({ max: serversMax, ttl: lifeMs, perf: { now: clock.elapsed }, ttlResolution: 0 });
  // The accounts of users at one server have fingerprints with a suffix.
  const keyOf = ({ document, fingerprint }: ServerSettings): string => `${document.id} ${fingerprint.split('.', 1)[0]}`;
  return {
    only: (server) => (known.size === 0 ? null : (known.get(keyOf(server)) ?? null)),
    note(server, revisions) {
      if (revisions === null) known.delete(keyOf(server));
      else known.set(keyOf(server), revisions);
    },
  };
}
