import type { EntityManager } from '../db/open-database.ts';
import type { Authentication } from '../http/callers.ts';
import { AdminError } from '../http/errors.ts';
import { scimTokens } from '../resources/scim-tokens/entity.ts';
import { scimScope } from '../scim/scope.ts';
import { hashOf } from './one-time-secret.ts';

/** Prefix of every SCIM token. */
export const scimTokenPrefix = 'svc_scim_';

const tokenPattern = /^svc_scim_[A-Za-z0-9_-]{43}$/;
/** `lastUsedAt` is written if it is older than this. */
const usedEveryMs = 60_000;

/** Authenticates the SCIM token of a directory. It reaches the SCIM routes of its organisation and nothing else. */
export async function authenticateDirectory(em: EntityManager, token: string, now: number): Promise<Authentication> {
  const hash = hashOf(token);
  const row = tokenPattern.test(token)
    ? await em.findOne(scimTokens, {
        $or: [{ tokenHash: hash }, { previousHash: hash, previousExpiresAt: { $gt: new Date(now) } }],
      })
    : null;
  if (!row) return { refused: new AdminError('AB05', 'Invalid SCIM token'), known: null };
  const { id: keyId, organisationId } = row;
  if (row.expiresAt && row.expiresAt.getTime() <= now) {
    const known = { keyId, organisationId, userId: null };
    return { refused: new AdminError('AB05', 'This SCIM token has expired. Rotate it or create a new one'), known };
  }
  if (now - (row.lastUsedAt?.getTime() ?? 0) >= usedEveryMs) {
    await em.nativeUpdate(scimTokens, { id: keyId, organisationId }, { lastUsedAt: new Date(now) });
  }
  const scopes = new Set([scimScope]);
  return { actor: { keyId, type: 'organisation-service', organisationId, workspaceId: null, userId: null, scopes } };
}
