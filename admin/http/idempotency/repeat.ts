import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson } from '../../../core/contract/values/json/canonical-json.ts';
import { dayMs } from '../../../core/contract/values/time/durations.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../admin-services.ts';
import type { Actor } from '../caller/actor.ts';
import { AdminError, invalid } from '../errors.ts';
import type { RawReply } from '../reply/raw-reply.ts';
import type { AdminRoute } from '../route.ts';
import { type IdempotencyKey, idempotencyKeys } from './entity.ts';

/** Stored reply to a create, with its headers. */
export interface StoredReply {
  readonly reply: unknown;
  /** Set if `reply` is a text of a protocol such as SCIM. */
  readonly raw?: Pick<RawReply, 'status' | 'headers'>;
  readonly headers: Readonly<Record<string, string>>;
}

/** A create with an `idempotency-key`: run once, however often it is requested within a day. */
export interface Repeat {
  /**
   * Returns the stored reply to the first request with this key; null if there was none. Throws AB01 (422) if that request
   * differed, AB07 if its reply is not known.
   */
  find(): Promise<StoredReply | null>;
  /**
   * Call first in the transaction of the change, to commit or roll back with it. A concurrent request with the same key waits
   * here, then gets AB07 and finds the stored reply.
   */
  claim(tx: EntityManager): Promise<void>;
  /** Stores the reply for repeated requests, if the key was claimed. */
  keep(stored: StoredReply): Promise<void>;
  /** Frees a claimed key after a failure, so that the request can be sent again with it. */
  release(): Promise<void>;
}

/** Milliseconds for which a key identifies the same request. */
const storedMs = dayMs;
const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** The route, the actor and the request; `key` as received. */
export interface RepeatOf {
  readonly key: string;
  readonly actor: Actor;
  readonly workspaceId: string | null;
  readonly route: Pick<AdminRoute, 'method' | 'path'>;
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
}

/** `em` is limited to the caller's organisation. Throws AB01 for an invalid key. */
export function repeatOf(of: RepeatOf, services: Pick<AdminServices, 'vault' | 'auditKey'>, em: () => EntityManager): Repeat {
  if (!keyPattern.test(of.key)) throw invalid('idempotency-key: expected 1 to 255 visible ASCII characters');
  const { organisationId } = of.actor;
  const who = [organisationId, of.workspaceId, of.actor.keyId, of.route.method, of.route.path, of.params, of.key];
  const digest = createHash('sha256').update(canonicalJson(who)).digest('base64url');
  // Keyed, because bodies hold secrets that could be guessed.
  const requestHash = createHmac('sha256', services.auditKey)
    .update(canonicalJson([of.query, of.body ?? null]))
    .digest('base64url');
  const contextOf = (row: Pick<IdempotencyKey, 'id'>) => ({
    organisationId,
    table: 'idempotency_keys',
    column: 'reply',
    rowId: row.id,
  });
  let mine: string | null = null;

  return {
    async find() {
      for (let attempt = 0; ; attempt++) {
        const row = await em().findOne(idempotencyKeys, { organisationId, digest, expiresAt: { $gt: new Date() } });
        if (!row) return null;
        if (row.requestHash !== requestHash) {
          const error = 'idempotency-key: already used for another request. Send a new key';
          throw new AdminError('AB01', error, [error], 422);
        }
        if (row.reply) return JSON.parse(await services.vault.open(em(), contextOf(row), row.reply)) as StoredReply;
        // This request is the first one, and has failed after its claim.
        if (row.id === mine) return null;
        // Milliseconds lie between the commit of a change and storing its reply, unless the process dies in between.
        if (attempt === replyAttempts) {
          throw new AdminError(
            'AB07',
            'The first request with this idempotency-key was executed, but its reply is not stored. Read the item to see the result',
          );
        }
        await sleep(replyWaitMs);
      }
    },
    async claim(tx) {
      const id = newId();
      const now = new Date();
      const rows = await tx.execute<unknown[]>(
        `insert into idempotency_keys as known (id, organisation_id, digest, request_hash, created_at, expires_at)
         values (?, ?, ?, ?, ?, ?)
         on conflict (digest) do update set id = excluded.id, request_hash = excluded.request_hash, reply = null,
           created_at = excluded.created_at, expires_at = excluded.expires_at
         where known.expires_at <= excluded.created_at returning id`,
        [id, organisationId, digest, requestHash, now, new Date(now.getTime() + storedMs)],
      );
      if (rows.length === 0)
        throw new AdminError('AB07', 'A request with this idempotency-key is still running. Try again shortly');
      mine = id;
    },
    async keep(stored) {
      if (mine === null) return;
      const reply = await services.vault.seal(em(), contextOf({ id: mine }), JSON.stringify(stored));
      await em().nativeUpdate(idempotencyKeys, { id: mine, organisationId }, { reply });
    },
    async release() {
      if (mine === null) return;
      await em().nativeDelete(idempotencyKeys, { id: mine, organisationId, reply: null });
      mine = null;
    },
  };
}

const replyAttempts = 20;
const replyWaitMs = 25;

/** Deletes expired keys of the whole installation; for a job. */
export async function forgetExpiredKeys(em: EntityManager): Promise<number> {
  return em.nativeDelete(idempotencyKeys, { expiresAt: { $lt: new Date() } });
}
