import { isUuid } from '../../core/contract/values/text/uuid.ts';
import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { AuditActor } from '../http/caller/actor.ts';
import type { Authentication } from '../http/caller/callers.ts';
import { AccessRefusal } from '../http/errors.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { scimTokens } from '../resources/scim-tokens/entity.ts';
import { scimScope } from '../scim/scope.ts';
import { hashOf } from './one-time-secret.ts';

/** Prefix of every SCIM token. */
export const scimTokenPrefix = 'svc_scim_';

const tokenPattern = /^svc_scim_[A-Za-z0-9_-]{43}$/;
/** `lastUsedAt` is written if it is older than this. */
const usedEveryMs = 60_000;

/** Times are dates or texts, depending on the database. */
interface TokenRow {
  readonly id: string;
  readonly organisation_id: string;
  readonly expires_at: Date | string | null;
  readonly last_used_at: Date | string | null;
}

/** Read without the ORM, because directories send thousands of requests in a row. */
const tokenByHash = `select id, organisation_id, expires_at, last_used_at from scim_tokens
  where token_hash = $1 or (previous_hash = $1 and previous_expires_at > $2)`;

/** Authenticates the SCIM token of a directory. It reaches the SCIM routes of its organisation and nothing else. */
export async function authenticateDirectory(
  em: EntityManager,
  token: string,
  path: string,
  now: number,
): Promise<Authentication> {
  const hash = hashOf(token);
  const row = tokenPattern.test(token) ? (await executeBound<TokenRow>(em, tokenByHash, [hash, new Date(now)]))[0] : null;
  if (!row) {
    const refused = new AccessRefusal(
      'AB05',
      'unknown_scim_token',
      'This SCIM token is unknown or was deleted. Create a new one',
    );
    return { refused, known: await organisationIn(em, path) };
  }
  const { id: keyId, organisation_id: organisationId } = row;
  if (row.expires_at && new Date(row.expires_at).getTime() <= now) {
    const known = { keyId, organisationId, userId: null };
    return {
      refused: new AccessRefusal('AB05', 'expired_scim_token', 'This SCIM token has expired. Rotate it or create a new one'),
      known,
    };
  }
  if (now - new Date(row.last_used_at ?? 0).getTime() >= usedEveryMs) {
    await em.nativeUpdate(scimTokens, { id: keyId, organisationId }, { lastUsedAt: new Date(now) });
  }
  const scopes = new Set([scimScope]);
  return { actor: { keyId, type: 'organisation-service', organisationId, workspaceId: null, userId: null, scopes } };
}

/** The organisation in the path of a request, so that its administrators see the refusal. Null if there is none. */
async function organisationIn(em: EntityManager, path: string): Promise<AuditActor | null> {
  const id = /^\/v\d\/scim\/([^/]+)\//.exec(path)?.[1]?.toLowerCase() ?? '';
  if (!isUuid(id) || (await em.count(organisations, { id })) === 0) return null;
  return { organisationId: id, keyId: null, userId: null };
}
