import * as v from 'valibot';
import { newEntryCache } from '../../contract/entry-cache.ts';
import type { Identity } from '../../contract/plugin/context.ts';
import { seal, unseal } from '../../contract/values/credentials/secret.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import type { ServerSettings } from '../server/server-settings.ts';

/** The state of a session of a client, sealed into its id: any gateway process can continue it. */
const state = v.object({
  /** Id of the session at the server. */
  upstream: v.string(),
  /** Fingerprint of the server's settings when the session began. */
  settings: v.string(),
  /** The client of a session at a server that has none: it is stated with each request. */
  client: v.optional(v.object({ info: v.record(v.string(), v.unknown()), capabilities: v.record(v.string(), v.unknown()) })),
});
export type SessionState = v.InferOutput<typeof state>;
export type StatelessClient = NonNullable<SessionState['client']>;

/** Seals and opens session ids of a server for one caller. Another caller cannot use them. */
export interface SessionIds {
  seal(serverId: string, caller: string, session: SessionState): string;
  /** Returns null for an id that this caller did not receive for this server. */
  open(serverId: string, caller: string, id: string): SessionState | null;
}

/** Opened states that are kept. */
const openMax = 1_000;
/** Longer ids are opened for each message. */
const cachedLengthMax = 4 * 1024;

interface OpenState {
  readonly use: string;
  readonly session: SessionState;
}

/** Each message of a session repeats its id, so opened states stay in memory: the 1,000 used last. */
export function createSessionIds(key: Uint8Array): SessionIds {
  const opened = newEntryCache<string, OpenState>(openMax);
  return {
    seal: (serverId, caller, session) => seal(key, JSON.stringify(session), useOf(serverId, caller)),
    open(serverId, caller, id) {
      const use = useOf(serverId, caller);
      const known = opened.get(id);
      // An id is valid for one server and caller, so that of another one fails like an id that cannot be opened.
      if (known) return known.use === use ? known.session : null;
      const session = unsealed(key, id, use);
      if (session !== null && id.length <= cachedLengthMax) opened.set(id, { use, session });
      return session;
    },
  };
}

function useOf(serverId: string, caller: string): string {
  return `mcp-session/${serverId}/${caller}`;
}

function unsealed(key: Uint8Array, id: string, use: string): SessionState | null {
  try {
    return v.parse(state, JSON.parse(textOf(unseal(key, id, use))));
  } catch {
    return null;
  }
}

/**
 * Names a caller of a server within its workspace. Nothing of one caller is used for another. An external token may name another person
 * with the same key.
 */
export function callerOf(
  { keyId, userId, tokenSubject }: Identity,
  { externalClaims: external }: Pick<ServerSettings, 'externalClaims'>,
): string {
  const person =
    external === null ? [] : [external.iss ?? null, external.sub ?? external.username ?? external.client_id ?? external];
  return JSON.stringify([keyId, userId, tokenSubject ?? null, ...person]);
}
