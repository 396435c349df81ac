import type * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { requireRank } from '../../access/require-rank.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, notFound } from '../../http/errors.ts';
import { scimTokenPrefix } from '../../identity/authenticate-directory.ts';
import { hashOf, newSecret } from '../../identity/one-time-secret.ts';
import type { Change } from '../../publish/write-change.ts';
import { type ScimToken, scimTokens } from './entity.ts';
import type { createBody, rotateBody } from './schema.ts';

/** Maximum number of tokens of an organisation. */
const tokensMax = 20;

/** Creates a token. Only the return value contains its text. Throws AB03 unless the actor may manage admins, as the token may. */
export async function createToken(
  change: Change,
  actor: Actor,
  body: v.InferOutput<typeof createBody>,
): Promise<{ row: ScimToken; token: string }> {
  requireRank(actor, 'admin');
  const { organisationId } = actor;
  if ((await change.tx.count(scimTokens, { organisationId })) >= tokensMax) {
    throw conflict(`An organisation can have at most ${tokensMax} SCIM tokens. Delete one first`);
  }
  const token = newSecret(scimTokenPrefix);
  const now = new Date();
  const row = change.tx.create(scimTokens, {
    id: newId(),
    organisationId,
    name: body.name,
    tokenHash: hashOf(token),
    lastCharacters: token.slice(-4),
    expiresAt: body.expires_at ?? null,
    createdAt: now,
    lastUpdatedAt: now,
  });
  change.about(row);
  await change.tx.flush();
  return { row, token };
}

/** Gives a token a new secret. The old one stays valid for the transition period. */
export async function rotateToken(
  change: Change,
  actor: Actor,
  row: ScimToken,
  body: v.InferOutput<typeof rotateBody>,
): Promise<string> {
  requireRank(actor, 'admin');
  const token = newSecret(scimTokenPrefix);
  const now = new Date();
  row.previousHash = body.transition_period_ms === 0 ? null : row.tokenHash;
  row.previousExpiresAt = body.transition_period_ms === 0 ? null : new Date(now.getTime() + body.transition_period_ms);
  row.tokenHash = hashOf(token);
  row.lastCharacters = token.slice(-4);
  if (body.expires_at !== undefined) row.expiresAt = body.expires_at;
  row.lastUpdatedAt = now;
  change.about(row);
  await change.tx.flush();
  return token;
}

/** A token of the organisation by id. Throws AB08. */
export async function findToken(em: EntityManager, organisationId: string, id: string): Promise<ScimToken> {
  const row = isUuid(id) ? await em.findOne(scimTokens, { id, organisationId }) : null;
  if (!row) throw notFound('SCIM token');
  return row;
}

/** The read form of a token, without its secret. */
export function toReply(row: ScimToken) {
  return {
    object: 'scim-token' as const,
    id: row.id,
    name: row.name,
    last_characters: row.lastCharacters,
    previous_expires_at: row.previousExpiresAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
  };
}
