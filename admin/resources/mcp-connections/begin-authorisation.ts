import * as oauth from 'oauth4webapi';
import * as v from 'valibot';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { createGatewayFetch } from '../../http/gateways/gateway-fetch.ts';
import { hashOf, newSecret } from '../../identity/one-time-secret.ts';
import type { Change } from '../../publish/write-change.ts';
import type { SealContext } from '../../secrets/vault.ts';
import type { McpIntegration } from '../mcp-integrations/entity.ts';
import type { McpServer } from '../mcp-servers/entity.ts';
import { findAuthorisationServer, type OAuthFetch } from './authorisation-server.ts';
import { type McpAuthorisation, mcpAuthorisations } from './entity.ts';
import { callbackUrl, clientOf, oauthClient } from './oauth-client.ts';
import { OAuthIssue } from './oauth-issue.ts';
import { allScopes } from './scopes.ts';

/** Milliseconds in which the browser must return. */
const validMs = 600_000;

const pendingAuthorisation = v.object({
  verifier: v.string(),
  client: oauthClient,
  as: v.looseObject({ issuer: v.string(), token_endpoint: v.string() }),
  resource: v.string(),
  scope: v.nullable(v.string()),
  url: v.string(),
});
type PendingAuthorisation = v.InferOutput<typeof pendingAuthorisation>;

/** Returns a fetch for one organisation, in the form of the protocol library. */
export function oauthFetch(services: Pick<AdminServices, 'settings' | 'log'>, organisationId: string): OAuthFetch {
  const fetch = createGatewayFetch(services, organisationId);
  return (url, { method, headers, body }) =>
    fetch(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      body: body === undefined || body === null ? null : String(body),
    });
}

interface Begun {
  /** Address of the authorisation server, for the browser. */
  readonly redirectTo: string;
  readonly stateHash: string;
  readonly pending: PendingAuthorisation;
}

/** Asks the authorisation server how to begin. `requiredScope`: scopes to request in addition. Stores nothing but a new client. Throws OAuthIssue and errors of the protocol library. */
export async function prepareAuthorisation(
  services: AdminServices,
  integration: McpIntegration,
  em: EntityManager,
  requiredScope: string | null,
): Promise<Begun> {
  const fetch = oauthFetch(services, integration.organisationId);
  const given = integration.configurations.oauth_metadata ?? {};
  const found = await findAuthorisationServer(fetch, integration.url, given);
  const { as, resource } = found;
  if (!as.authorization_endpoint || !as.token_endpoint) {
    throw new OAuthIssue(`the authorisation server ${as.issuer} names no authorization_endpoint or no token_endpoint`);
  }
  checkHost(services.settings, as.authorization_endpoint, 'authorization_endpoint', true);
  const client = await clientOf({ em, services, fetch }, integration, found);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = newSecret('svc_state_');
  const scope = allScopes(given.scope ?? found.scope, requiredScope);
  const address = new URL(as.authorization_endpoint);
  const parameters = {
    ...{ response_type: 'code', client_id: client.clientId, state, resource },
    redirect_uri: client.redirectUri ?? callbackUrl(services.settings),
    ...{ code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    ...(scope ? { scope } : {}),
    // Servers of OpenID Connect issue refresh tokens for this scope only with consent.
    ...(scope?.split(' ').includes('offline_access') ? { prompt: 'consent' } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  const pending = {
    verifier,
    client,
    as: { ...as, token_endpoint: as.token_endpoint },
    resource,
    scope: scope ?? null,
    url: integration.url,
  };
  return { redirectTo: address.href, stateHash: hashOf(state), pending };
}

/** Stores an authorisation of this user. Earlier ones for the same server end. */
export async function storeAuthorisation(
  { tx }: Change,
  { vault, clock }: Pick<AdminServices, 'vault' | 'clock'>,
  { organisationId, workspaceId, id: serverId }: McpServer,
  userId: string,
  { stateHash, pending }: Begun,
): Promise<void> {
  const now = clock.now();
  await tx.nativeDelete(mcpAuthorisations, { organisationId, userId, serverId });
  const id = newId();
  const secrets = await vault.seal(tx, contextOf({ organisationId, id }), JSON.stringify(pending));
  const times = { createdAt: new Date(now), expiresAt: new Date(now + validMs) };
  tx.create(mcpAuthorisations, { id, organisationId, workspaceId, serverId, userId, stateHash, secrets, ...times });
}

/** Returns what was stored when this authorisation began. */
export async function openAuthorisation(tx: Change['tx'], { vault }: Pick<AdminServices, 'vault'>, row: McpAuthorisation) {
  return v.parse(pendingAuthorisation, JSON.parse(await vault.open(tx, contextOf(row), row.secrets)));
}

function contextOf({ organisationId, id }: Pick<McpAuthorisation, 'organisationId' | 'id'>): SealContext {
  return { organisationId, table: 'mcp_authorisations', column: 'secrets', rowId: id };
}
