import { readUserDocumentId } from '../../../core/contract/protocol/credentials/user-document-id.ts';
import type { OrganisationDocument, UserDocument, WorkspaceNameDocument } from '../../../core/contract/protocol/documents.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { implicitAdminScopes } from '../../access/roles.ts';
import { dataPlaneScopes } from '../../access/scopes.ts';
import { membershipsOf } from '../../access/session-actor.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { readRow } from '../../db/plain-rows.ts';
import { type Organisation, organisations } from '../../resources/organisations/entity.ts';
import { type SecuritySettings, securityDefaults } from '../../resources/organisations/setting-sections.ts';
import { type User, users } from '../../resources/users/entity.ts';
import { workspaces } from '../../resources/workspaces/entity.ts';
import { urlsOf } from './check-settings.ts';
import { removalOf } from './removed-users.ts';

/** Returns the document of an organisation that uses JWT authentication; null for every other one. */
export async function toOrganisationDocument(em: EntityManager, id: string): Promise<OrganisationDocument | null> {
  const row = isUuid(id) ? await readRow(em, organisations, { id }) : null;
  const jwt = row?.authSettings?.jwt;
  if (!jwt) return null;
  const { jwks_url, jwks, issuer, audience, max_token_ttl: maxTtlSeconds = null } = jwt;
  const urls = jwks_url === null ? [] : urlsOf(jwks_url);
  return { id, jwt: { urls, keys: jwks?.keys ?? [], issuer, audience, maxTtlSeconds } };
}

/** Returns the workspace of `<organisation id>/<slug>`. Null if there is none, or it is archived. */
export async function toWorkspaceNameDocument(em: EntityManager, id: string): Promise<WorkspaceNameDocument | null> {
  const [organisationId, slug] = split(id);
  const row = isUuid(organisationId) ? await readRow(em, workspaces, { organisationId, slug, status: 'active' }) : null;
  return row && { id, organisationId, workspaceId: row.id };
}

/**
 * Returns the document of a user by `userDocumentId`, which may state that there is no such user. Null only if there
 * is no such organisation.
 */
export async function toUserDocument(em: EntityManager, id: string): Promise<UserDocument | null> {
  const { organisationId, email } = readUserDocumentId(id);
  const organisation = isUuid(organisationId) ? await readRow(em, organisations, { id: organisationId }) : null;
  if (!organisation) return null;
  const user = await readRow(em, users, { organisationId, email });
  if (user !== null) return { id, organisationId, user: await personOf(em, user, organisation) };
  const removedAt = await removalOf(em, organisationId, email);
  return { id, organisationId, user: null, ...(removedAt && { removedAtMs: removedAt.getTime() }) };
}

async function personOf(em: EntityManager, user: User, organisation: Organisation): Promise<NonNullable<UserDocument['user']>> {
  const { id, role, email, firstName, lastName } = user;
  const name = [firstName, lastName].filter(Boolean).join(' ') || email;
  // Rejects the JWTs of the user. Without a user, a JWT would have every scope that it claims.
  if (user.deactivatedAt) return { id, name, everywhere: null, places: {} };
  if (role !== 'member') return { id, name, everywhere: ofModels(implicitAdminScopes(role, nothingAllowed)), places: {} };
  const entries = [...(await membershipsOf(em, user, organisation))].map(([workspaceId, { scopes }]) => [
    workspaceId,
    ofModels(scopes),
  ]);
  return { id, name, everywhere: null, places: Object.fromEntries(entries) };
}

/** Workspaces may differ in the rights of admins. The rights common to all of them are those that no setting can remove. */
const nothingAllowed = Object.fromEntries(Object.keys(securityDefaults).map((name) => [name, false])) as SecuritySettings;

/** The scopes that gateways need. */
function ofModels(scopes: ReadonlySet<string>): string[] {
  return dataPlaneScopes.filter((scope) => scopes.has(scope));
}

function split(id: string): [string, string] {
  const slash = id.indexOf('/');
  return [id.slice(0, Math.max(slash, 0)), id.slice(slash + 1)];
}
