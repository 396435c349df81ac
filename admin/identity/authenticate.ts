import type { Settings } from '../../config/settings.ts';
import { isToken } from '../../core/contract/protocol/credentials/tokens.ts';
import { parseApiKey, type StoredKey, verifyApiKey } from '../../core/contract/values/credentials/api-key.ts';
import { malformedKeyReason, unknownKeyReason } from '../../core/contract/values/credentials/key-rejections.ts';
import { isUuid } from '../../core/contract/values/text/uuid.ts';
import { actorOfKey } from '../access/actor-of-key.ts';
import { sessionActor } from '../access/session-actor.ts';
import { effectiveKeyScopes } from '../access/user-scopes.ts';
import type { EntityManager } from '../db/open-database.ts';
import { readRow } from '../db/plain-rows.ts';
import type { AdminServices } from '../http/admin-services.ts';
import type { Authentication, Credentials } from '../http/caller/callers.ts';
import { isClusterKey } from '../http/caller/client-address.ts';
import { requestOrigin } from '../http/caller/same-origin.ts';
import { AccessRefusal, AdminError, invalid, notFound } from '../http/errors.ts';
import { type ApiKey, apiKeys } from '../resources/api-keys/entity.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { isScimPath } from '../scim/no-route.ts';
import { authenticateDirectory, scimTokenPrefix } from './authenticate-directory.ts';
import { authenticateToken } from './jwt/authenticate-token.ts';
import { readSessionCookie } from './session-cookie.ts';
import { findSession, ownerOfSession, sessionPrefix } from './sessions.ts';

/**
 * Authenticates an API key, a JWT of an organisation, or the session token of a user, as a bearer or in the cookie. A key or
 * token takes precedence over the cookie. Browsers send the cookie by themselves, so a request with it can change something only
 * if it comes from a page of the service's own origin.
 */
export async function authenticate(
  em: EntityManager,
  credentials: Credentials,
  services: Pick<AdminServices, 'settings' | 'apiKeyPepper' | 'clock' | 'log'>,
): Promise<Authentication> {
  const { settings } = services;
  const credential = credentialOf(credentials.header, [settings.headerPrefix, ...settings.headerPrefixAliases]);
  if (credential?.startsWith(sessionPrefix)) return authenticateSession(em, credential, services);
  if (credential?.startsWith(scimTokenPrefix)) {
    return authenticateDirectory(em, credential, credentials.path, services.clock.now());
  }
  if (credential !== null && credentials.dataService && isClusterKey(credential, settings)) {
    return authenticateDataService(em, credentials.dataService);
  }
  if (credential !== null && isToken(credential)) return authenticateToken(em, credential, credentials, services);
  if (credential !== null) return authenticateKey(em, credential, services.apiKeyPepper);
  const cookie = readSessionCookie(credentials.header('cookie'), settings);
  if (cookie === null) {
    const missing = isScimPath(credentials.path)
      ? 'A SCIM token is required. Send it as a bearer token'
      : 'An API key is required. Send it in x-svc-api-key or in Authorization: Bearer';
    return { refused: unauthorised(missing), known: null };
  }
  if (credentials.method !== 'GET' && requestOrigin(credentials.header, settings) !== 'same') {
    const refused = new AccessRefusal(
      'AB03',
      'cross_site',
      'A request with a session cookie must come from a page of this service',
    );
    return { refused, known: await ownerOfSession(em, cookie) };
  }
  return authenticateSession(em, cookie, services);
}

/** Authenticates a service of the deployment as an organisation key with only the scopes of the route. */
async function authenticateDataService(
  em: EntityManager,
  { scopes, organisationId }: NonNullable<Credentials['dataService']>,
): Promise<Authentication> {
  const named = organisationId === undefined ? {} : { id: organisationId };
  const found = organisationId === undefined || isUuid(organisationId) ? await em.find(organisations, named, { limit: 2 }) : [];
  if (found.length > 1) return { refused: invalid('organisation_id: required with the data-service token'), known: null };
  if (!found[0]) return { refused: notFound('Organisation'), known: null };
  return {
    actor: {
      keyId: dataServiceId,
      type: 'organisation-service',
      organisationId: found[0].id,
      workspaceId: null,
      userId: null,
      scopes: new Set(scopes),
    },
  };
}

/** Used instead of a row id; no row has it. */
const dataServiceId = '00000000-0000-0000-0000-000000000000';

async function authenticateSession(
  em: EntityManager,
  token: string,
  { settings, clock }: { readonly settings: Settings; readonly clock: AdminServices['clock'] },
): Promise<Authentication> {
  const found = await findSession(em, token, { idleTtlSeconds: settings.sessionIdleSeconds }, clock.now());
  if (!found) return { refused: unauthorised('The session has ended. Sign in again'), known: null };
  return { actor: await sessionActor(em, found.row, found.user, found.organisation) };
}

/**
 * Authenticates an API key. Rejects only a key that is known to be invalid. Throws if the database does not reply. A key that
 * does not exist costs the same work as one with a wrong secret.
 */
async function authenticateKey(em: EntityManager, credential: string, pepper: Uint8Array): Promise<Authentication> {
  const key = parseApiKey(credential);
  if (!key) return { refused: unauthorised(`Invalid API key: ${malformedKeyReason(credential)}`), known: null };
  const row = await readRow(em, apiKeys, { publicId: key.id });
  const { state } = verifyApiKey(key, row && storedKeyOf(row), pepper, Date.now());
  if (row && state === 'valid') return { actor: actorOfKey(row, await effectiveKeyScopes(em, row)) };
  const known = row && { keyId: row.id, organisationId: row.organisationId, userId: null };
  return { refused: unauthorised(rejections[state]), known };
}

const rejections = {
  valid: `Invalid API key: ${unknownKeyReason}`,
  invalid: `Invalid API key: ${unknownKeyReason}`,
  expired: 'This API key has expired: rotate it, change its expires_at, or use another key',
  overdue: 'This API key has expired: it was not rotated in time. Rotate it or use another key',
} as const;

function storedKeyOf({ type, digest, previousDigest, previousExpiresAt, expiresAt, secretExpiresAt }: ApiKey): StoredKey {
  return {
    type,
    digest,
    previousDigest: previousDigest ?? null,
    previousExpiresAtMs: previousExpiresAt?.getTime() ?? null,
    expiresAtMs: expiresAt?.getTime() ?? null,
    secretExpiresAtMs: secretExpiresAt?.getTime() ?? null,
  };
}

/** Returns the credential of a request: the API key header of any accepted prefix, else a bearer token. */
function credentialOf(header: (name: string) => string | undefined, prefixes: readonly string[]): string | null {
  for (const prefix of prefixes) {
    const value = header(`${prefix}api-key`);
    if (value) return value;
  }
  const bearer = /^Bearer +(\S+)$/i.exec(header('authorization') ?? '');
  return bearer?.[1] ?? null;
}

function unauthorised(message: string): AdminError {
  return new AdminError('AB05', message);
}
