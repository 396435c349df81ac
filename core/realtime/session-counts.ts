import type { SessionOwner } from '../contract/plugin/sessions/web-socket.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';

/** Maximum concurrent sessions of one organisation, one workspace and one key in this process. 0: no limit. */
export interface OwnerMax {
  readonly organisation: number;
  readonly workspace: number;
  readonly key: number;
}

/** Ids of the owners, and the settings that limit their sessions. */
const scopes = [
  ['organisation', 'organisationId', 'this organisation', 'REALTIME_SESSIONS_PER_ORGANISATION'],
  ['workspace', 'workspaceId', 'this workspace', 'REALTIME_SESSIONS_PER_WORKSPACE'],
  ['key', 'keyId', 'this API key', 'REALTIME_SESSIONS_PER_KEY'],
] as const;

/** Counts the sessions of each owner, so that no owner can use up the capacity of all. */
export class SessionCounts {
  readonly #max: OwnerMax;
  readonly #open = new Map<string, number>();

  constructor(max: OwnerMax) {
    this.#max = max;
  }

  /**
   * Counts a session for each owner. The returned function ends the count and must be called once. Throws GatewayError
   * `too_many_sessions`.
   */
  enter(owner: SessionOwner): () => void {
    const names: string[] = [];
    for (const [scope, field, whose, setting] of scopes) {
      const most = this.#max[scope];
      if (most === 0) continue;
      const name = `${scope} ${owner[field]}`;
      if ((this.#open.get(name) ?? 0) >= most) {
        const message = `WebSocket session limit reached for ${whose} (${most}; see ${setting})`;
        throw new GatewayError('too_many_sessions', { message, param: setting, retryAfterMs: 1000 });
      }
      names.push(name);
    }
    for (const name of names) this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
    return () => {
      for (const name of names) this.#leave(name);
    };
  }

  #leave(name: string): void {
    const left = (this.#open.get(name) ?? 1) - 1;
    if (left === 0) this.#open.delete(name);
    else this.#open.set(name, left);
  }
}
