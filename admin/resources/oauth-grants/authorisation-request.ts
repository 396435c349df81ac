import { hash } from 'node:crypto';
import * as v from 'valibot';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, seal, unseal } from '../../../core/contract/values/credentials/secret.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { type McpEndpoint, usableEndpoints } from '../mcp-virtual-servers/usable-endpoints.ts';
import type { User } from '../users/entity.ts';
import { workspaces } from '../workspaces/entity.ts';
import type { Client } from './find-client.ts';
import { OAuthError } from './oauth-error.ts';
import { isRegistered } from './redirect-uris.ts';

const text = v.optional(v.pipe(v.string(), v.maxLength(4_096, 'at most 4,096 characters')));

/** Every parameter is optional here: errors go to the client, not to the user. */
export const authorisationQuery = v.looseObject({
  client_id: text,
  redirect_uri: text,
  response_type: text,
  code_challenge: text,
  code_challenge_method: text,
  state: text,
  resource: text,
});
export type AuthorisationQuery = v.InferOutput<typeof authorisationQuery>;

/** Throws OAuthError if the browser must not be sent to this redirect URI. */
export function requireRedirectUri({ redirectUris }: Client, { redirect_uri: sent }: AuthorisationQuery): string {
  if (sent === undefined || !isRegistered(redirectUris, sent)) {
    throw new OAuthError('invalid_request', 'redirect_uri: required, and it must be one that the client has registered');
  }
  return sent;
}

/** Throws OAuthError, which is reported to the client. Returns the code challenge. */
export function requirePkce(query: AuthorisationQuery): string {
  if (query.response_type !== 'code') throw new OAuthError('unsupported_response_type', 'response_type: code is expected');
  if (query.code_challenge_method !== 'S256') {
    throw new OAuthError('invalid_request', 'code_challenge_method: S256 is expected');
  }
  if (!/^[A-Za-z0-9_-]{43}$/.test(query.code_challenge ?? '')) {
    throw new OAuthError('invalid_request', 'code_challenge: the base64url SHA-256 of the code verifier is expected');
  }
  if ((query.state ?? '').length > 2_048) throw new OAuthError('invalid_request', 'state: at most 2,048 characters');
  return query.code_challenge as string;
}

export interface Choice {
  readonly server: McpEndpoint;
  readonly workspaceName: string;
}

/**
 * Returns the MCP servers and virtual servers that `resource` can name for this user: one if it names the workspace, else those of all workspaces with this
 * slug. Throws OAuthError if there is none.
 */
export async function requireServers(
  em: EntityManager,
  { settings }: AdminServices,
  user: User,
  resource: string | undefined,
): Promise<Choice[]> {
  const { origin, pathname, search, hash: fragment } = URL.parse(resource ?? '') ?? new URL('about:blank');
  const [, workspace, slug] = /^(?:\/([\w-]{1,255}))?\/([\w-]{1,255})\/mcp$/.exec(pathname) ?? [];
  const isOurs = origin === new URL(settings.mcpPublicUrl).origin && search === '' && fragment === '';
  if (!isOurs || slug === undefined) {
    throw new OAuthError(
      'invalid_target',
      `resource: the address of an MCP server is expected, such as ${settings.mcpPublicUrl}/workspace/server/mcp`,
    );
  }
  const { organisationId } = user;
  const found: Choice[] = [];
  for (const server of await usableEndpoints(em, user, slug)) {
    const of = await em.findOneOrFail(workspaces, { organisationId, id: server.workspaceId });
    if (workspace !== undefined && workspace !== of.slug && workspace !== of.id) continue;
    found.push({ server, workspaceName: of.name });
  }
  if (found.length === 0)
    throw new OAuthError('access_denied', 'resource: there is no such MCP server, or the user cannot use it');
  return found;
}

const resumeState = v.object({
  clientId: v.string(),
  clientName: v.string(),
  redirectUri: v.string(),
  challenge: v.string(),
  state: v.nullable(v.string()),
  resource: v.string(),
  serverIds: v.array(v.string()),
  expiresAtMs: v.number(),
});
export type ResumeState = v.InferOutput<typeof resumeState>;

/** Seals a request that waits for consent. Only the session that received it can continue it. */
export function sealRequest({ settings }: AdminServices, sessionId: string, request: ResumeState): string {
  return seal(keyOf(settings), JSON.stringify(request), contextOf(sessionId));
}

/** Throws OAuthError for a request of another session, and for one that is older than ten minutes. */
export function openRequest({ settings, clock }: AdminServices, sessionId: string, sealed: string): ResumeState {
  let opened: ResumeState | null = null;
  try {
    opened = v.parse(resumeState, JSON.parse(unseal(keyOf(settings), sealed, contextOf(sessionId)).toString('utf8')));
  } catch {}
  if (opened !== null && opened.expiresAtMs > clock.now()) return opened;
  throw new OAuthError('invalid_request', 'resume_state: has expired, or belongs to another session. Begin again at the client');
}

/** Returns the address with which the browser returns to the client. */
export function redirectTo(
  redirectUri: string,
  issuer: string,
  state: string | null | undefined,
  result: Record<string, string>,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(result)) url.searchParams.set(name, value);
  if (state !== null && state !== undefined) url.searchParams.set('state', state);
  url.searchParams.set('iss', issuer);
  return url.href;
}

/** Returns the S256 code challenge of a verifier (RFC 7636, section 4.2). */
export function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url');
}

function keyOf({ clusterKey }: AdminServices['settings']): Uint8Array {
  return deriveKey(clusterKey, keyPurposes.oauthToken);
}

function contextOf(sessionId: string): string {
  return `oauth-request/${sessionId}`;
}
