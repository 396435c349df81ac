import { type OAuthGrantDocument, oauthScope } from '../../../core/contract/protocol/credentials/oauth-token.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { DocumentSource } from '../../define-resource.ts';
import { findUsableEndpoint } from '../mcp-virtual-servers/usable-endpoints.ts';
import { type User, users } from '../users/entity.ts';
import { type OAuthGrant, oauthGrants } from './entity.ts';

/** Returns the document of a grant; null if it is not active, or its user can no longer use the server. */
export async function toOAuthGrantDocument({ database }: DocumentSource, id: string): Promise<OAuthGrantDocument | null> {
  if (!isUuid(id)) return null;
  const em = database.em();
  const grant = await em.findOne(oauthGrants, { id });
  const user = grant && (await userOf(em, grant));
  if (!grant || !user) return null;
  const { organisationId, workspaceId, serverId, userId, clientId } = grant;
  const userName = [user.firstName, user.lastName].filter(Boolean).join(' ') || user.email;
  return { id, organisationId, workspaceId, serverId, userId, userName, clientId, scopes: [oauthScope] };
}

/** Returns the user of an active grant who can use its server; else null. */
export async function userOf(em: EntityManager, { organisationId, userId, serverId, status }: OAuthGrant): Promise<User | null> {
  if (status !== 'active') return null;
  const user = await em.findOne(users, { id: userId, organisationId });
  return user && (await findUsableEndpoint(em, user, serverId)) ? user : null;
}
