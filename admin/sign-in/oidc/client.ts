import { importJWK } from 'jose';
import { LRUCache } from 'lru-cache';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  PrivateKeyJwt,
} from 'openid-client';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { createGatewayFetch } from '../../http/gateways/gateway-fetch.ts';
import { type OidcSettings, oidcSettingsOf, type SsoConnection } from '../../resources/sso-connections/entity.ts';
import { connectionSecrets } from '../../resources/sso-connections/secrets.ts';
import { skewSeconds } from './read-claims.ts';

export type ClientServices = Pick<AdminServices, 'settings' | 'log' | 'vault' | 'database'>;

/** Clients with the provider's metadata, of each control plane in this process. */
const caches = new WeakMap<object, LRUCache<string, Promise<Configuration>>>();
const cachedMs = 10 * 60_000;

/**
 * Returns the OpenID Connect client of a connection, which knows the addresses of the provider. All its requests go through a gateway.
 * Rejects if the provider cannot be reached or names another issuer.
 */
export async function oidcClient(em: EntityManager, services: ClientServices, connection: SsoConnection): Promise<Configuration> {
  const cache = cacheOf(services.database);
  const key = keyOf(connection);
  const cached = cache.get(key);
  if (cached) return cached;
  const made = discover(em, services, connection);
  cache.set(key, made);
  made.catch(() => cache.delete(key));
  return made;
}

/**
 * Like `oidcClient`, and reads the provider's metadata and keys again. For ID tokens: the library looks for an unknown key once a minute
 * at most, so the first sign-in after a rotation would fail, and its code cannot be used again.
 */
export async function freshOidcClient(
  em: EntityManager,
  services: ClientServices,
  connection: SsoConnection,
): Promise<Configuration> {
  const made = await discover(em, services, connection);
  // Other sign-ins use the previous metadata until now, so that they neither wait nor fail if the provider does not send them.
  cacheOf(services.database).set(keyOf(connection), Promise.resolve(made));
  return made;
}

function keyOf({ id, revision }: SsoConnection): string {
  return `${id} ${revision}`;
}

function cacheOf(database: object): LRUCache<string, Promise<Configuration>> {
  const found = caches.get(database) ?? new LRUCache({ max: 500, ttl: cachedMs });
  caches.set(database, found);
  return found;
}

async function discover(em: EntityManager, services: ClientServices, connection: SsoConnection): Promise<Configuration> {
  const own = oidcSettingsOf(connection);
  const send = createGatewayFetch(services, connection.organisationId);
  const metadata = { id_token_signed_response_alg: own.id_token_signing_alg, [clockTolerance]: skewSeconds };
  const client = await discovery(
    new URL(own.issuer),
    own.client_id,
    metadata,
    await clientAuthOf(em, services, connection, own),
    {
      // The gateway decides about addresses; http is possible for trusted hosts only.
      execute: own.issuer.startsWith('http:') ? [allowInsecureRequests] : [],
      [customFetch]: (url, { method, headers, body }) =>
        send(url, { method: method === 'POST' ? 'POST' : 'GET', headers, body: textOf(body) }),
    },
  );
  enableNonRepudiationChecks(client);
  return client;
}

function textOf(body: unknown): string | null {
  return body === null || body === undefined ? null : String(body);
}

async function clientAuthOf(
  em: EntityManager,
  { vault }: ClientServices,
  connection: SsoConnection,
  own: OidcSettings,
): Promise<ClientAuth> {
  const secrets = await connectionSecrets.open(em, vault, connection);
  if (own.token_endpoint_auth_method === 'client_secret_post') return ClientSecretPost(secrets.client_secret);
  if (own.token_endpoint_auth_method === 'client_secret_basic') return ClientSecretBasic(secrets.client_secret);
  const jwk = JSON.parse(secrets.private_key ?? '{}') as { kid: string; alg: string };
  const key = await importJWK(jwk, jwk.alg);
  if (key instanceof Uint8Array) throw new Error('the key of a connection is not an asymmetric key');
  return PrivateKeyJwt({ key, kid: jwk.kid });
}
