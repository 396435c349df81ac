import { hash } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import * as v from 'valibot';
import { basicClientCredentials } from '../../../core/contract/values/credentials/basic-credentials.ts';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { SealContext } from '../../secrets/vault.ts';
import { openClientSecret } from '../mcp-integrations/client-secret.ts';
import type { McpIntegration } from '../mcp-integrations/entity.ts';
import { type OAuthFetch, optionsOf, type UpstreamOAuth } from './authorisation-server.ts';
import { type McpOauthClient, mcpOauthClients } from './entity.ts';
import { OAuthIssue } from './oauth-issue.ts';

/** The gateway as a client of one authorisation server. */
export const oauthClient = v.object({
  clientId: v.string(),
  /** Null for public clients. */
  secret: v.nullable(v.string()),
  method: v.picklist(['none', 'client_secret_basic', 'client_secret_post']),
  /** Address to which the authorisation server sends browsers back; absent: the address without `as`. */
  redirectUri: v.optional(v.string()),
});
export type OAuthClient = v.InferOutput<typeof oauthClient>;

/** Returns the authentication of a client at the token endpoint. */
export function authenticationOf({ secret, method }: OAuthClient): oauth.ClientAuth {
  if (secret === null || method === 'none') return oauth.None();
  if (method === 'client_secret_post') return oauth.ClientSecretPost(secret);
  // The library encodes unreserved characters too, which is allowed. Some servers reject that, as they do not decode ids.
  return (_as, { client_id }, _body, headers) => headers.set('authorization', basicClientCredentials(client_id, secret));
}

/**
 * Address to which authorisation servers send browsers back. A client that was registered at one server has an address of its own, with `as`:
 * a response of another server, to which a hostile one has sent the browser, comes to another address (RFC 9700 §4.4).
 */
export function callbackUrl({ publicUrl }: Pick<AdminServices['settings'], 'publicUrl'>, as?: string): string {
  return `${publicUrl}/oauth/upstream-callback${as === undefined ? '' : `?${new URLSearchParams({ as })}`}`;
}

/** Address of the gateway's own client ID metadata document. */
export function clientDocumentUrl({ publicUrl }: Pick<AdminServices['settings'], 'publicUrl'>): string {
  return `${publicUrl}/v1/oauth/client.json`;
}

interface Asking {
  readonly em: EntityManager;
  readonly services: Pick<AdminServices, 'settings' | 'vault' | 'clock'>;
  readonly fetch: OAuthFetch;
}

/**
 * Returns the client of an integration: the one in its settings, the gateway's metadata document if the server reads those, else one that
 * is registered once. All servers read the same document, so it is used only for those that name themselves in responses (RFC 9207). Throws
 * OAuthIssue.
 */
export async function clientOf(
  { em, services, fetch }: Asking,
  integration: McpIntegration,
  { as }: UpstreamOAuth,
): Promise<OAuthClient> {
  const { oauth_metadata: given = {} } = integration.configurations;
  if (given.client_id) {
    const secret = await openClientSecret(em, services.vault, integration);
    return {
      clientId: given.client_id,
      secret,
      method: secret === null ? 'none' : methodOf(as, given.token_endpoint_auth_method),
    };
  }
  const readsDocuments = as.client_id_metadata_document_supported === true;
  const namesItself = as.authorization_response_iss_parameter_supported === true;
  if (readsDocuments && namesItself && services.settings.publicUrl.startsWith('https:')) {
    return { clientId: clientDocumentUrl(services.settings), secret: null, method: 'none' };
  }
  if (!as.registration_endpoint) {
    const need = 'configurations.oauth_metadata.client_id';
    const lacks = readsDocuments && !namesItself ? 'does not name itself in responses (iss) and ' : '';
    throw new OAuthIssue(
      `the authorisation server ${as.issuer} ${lacks}registers no clients. Set ${need} to a client registered there`,
    );
  }
  const redirectUri = callbackUrl(services.settings, hash('sha256', as.issuer).slice(0, 16));
  const where = { organisationId: integration.organisationId, integrationId: integration.id, issuer: as.issuer, redirectUri };
  const known = await em.findOne(mcpOauthClients, where);
  if (known && (!known.expiresAt || known.expiresAt.getTime() > services.clock.now())) {
    return v.parse(oauthClient, JSON.parse(await services.vault.open(em, contextOf(known), known.secrets)));
  }
  const { client, expiresAt } = await register(fetch, as, { ...given, redirect_uris: [redirectUri] });
  const secrets = await services.vault.seal(em, contextOf(where), JSON.stringify(client));
  await em.upsert(
    mcpOauthClients,
    { ...where, id: newId(), secrets, expiresAt, createdAt: new Date(services.clock.now()) },
    { onConflictFields: ['integrationId', 'issuer', 'redirectUri'], onConflictExcludeFields: ['id', 'createdAt'] },
  );
  return client;
}

/** Metadata of the gateway as a client, as in RFC 7591. */
export function clientMetadata(given: McpIntegration['configurations']['oauth_metadata'], redirectUris: readonly string[]) {
  const { client_uri, logo_uri, scope, contacts, tos_uri, policy_uri, software_id, software_version } = given ?? {};
  const optional = { client_uri, logo_uri, scope, contacts, tos_uri, policy_uri, software_id, software_version };
  return {
    client_name: given?.client_name ?? 'svc-gateway',
    application_type: redirectUris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native',
    redirect_uris: [...redirectUris],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined && value !== null)),
  };
}

async function register(
  fetch: OAuthFetch,
  as: oauth.AuthorizationServer,
  given: NonNullable<McpIntegration['configurations']['oauth_metadata']> & { readonly redirect_uris: readonly string[] },
): Promise<{ readonly client: OAuthClient; readonly expiresAt: Date | null }> {
  const method = given.token_endpoint_auth_method ?? preferredMethod(as);
  const metadata = { ...clientMetadata(given, given.redirect_uris), token_endpoint_auth_method: method };
  const response = await oauth.dynamicClientRegistrationRequest(as, metadata as Partial<oauth.Client>, optionsOf(fetch));
  const made = await oauth.processDynamicClientRegistrationResponse(await withSecretExpiry(response));
  const secret = typeof made.client_secret === 'string' ? made.client_secret : null;
  const expires = Number(made.client_secret_expires_at ?? 0);
  return {
    client: {
      clientId: made.client_id,
      secret,
      method: secret === null ? 'none' : methodOf(as, made.token_endpoint_auth_method ?? method),
      redirectUri: given.redirect_uris[0],
    },
    expiresAt: expires > 0 ? new Date(expires * 1_000) : null,
  };
}

/** Many servers leave out `client_secret_expires_at`, which RFC 7591 requires beside a secret. Such a secret has no end. */
async function withSecretExpiry(response: Response): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  if (!isObject(body) || body.client_secret === undefined || body.client_secret_expires_at !== undefined) return response;
  return Response.json({ ...body, client_secret_expires_at: 0 }, { status: response.status });
}

/**
 * Returns the authentication of a client that the gateway registers itself. With Basic, servers of the Python SDK require the id in the body too
 * (modelcontextprotocol/python-sdk#3545), which others, such as Okta, refuse.
 */
function preferredMethod(as: oauth.AuthorizationServer): OAuthClient['method'] {
  const supported = as.token_endpoint_auth_methods_supported;
  return (!supported ? 'none' : registeredMethods.find((method) => supported.includes(method))) ?? methodOf(as, undefined);
}

const registeredMethods = ['none', 'client_secret_post'] as const;

/** Servers that list nothing support Basic (RFC 8414). */
function methodOf(as: oauth.AuthorizationServer, wanted: unknown): OAuthClient['method'] {
  if (wanted === 'client_secret_post' || wanted === 'client_secret_basic') return wanted;
  const supported = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return supported.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post';
}

/** The context of a sealed registration. It is not bound to the id of the row, because two processes may register at the same time. */
export function contextOf({
  organisationId,
  integrationId,
  issuer,
}: Pick<McpOauthClient, 'organisationId' | 'integrationId' | 'issuer'>): SealContext {
  return { organisationId, table: 'mcp_oauth_clients', column: 'secrets', rowId: `${integrationId}/${issuer}` };
}
