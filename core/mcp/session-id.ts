import * as v from 'valibot';
import type { Identity } from '../contract/plugin/context.ts';
import { seal, unseal } from '../contract/values/secret.ts';
import type { ServerSettings } from './server-settings.ts';

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

export function createSessionIds(key: Uint8Array): SessionIds {
  return {
    seal: (serverId, caller, session) => seal(key, JSON.stringify(session), `mcp-session/${serverId}/${caller}`),
    open(serverId, caller, id) {
      try {
        return v.parse(state, JSON.parse(unseal(key, id, `mcp-session/${serverId}/${caller}`).toString('utf8')));
      } catch {
        return null;
      }
    },
  };
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
