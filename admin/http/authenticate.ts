import { timingSafeEqual } from 'node:crypto';
import type { Settings } from '../../config/settings.ts';
import { isToken } from '../../core/contract/protocol/tokens.ts';
import { type ApiKeyKind, digestSecret, parseApiKey } from '../../core/contract/values/api-key.ts';
import { sessionActor } from '../access/session-actor.ts';
import { effectiveKeyScopes } from '../access/user-scopes.ts';
import { isUuid } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { authenticateToken } from '../identity/jwt/authenticate-token.ts';
import { requestOrigin } from '../identity/same-origin.ts';
import { readSessionCookie } from '../identity/session-cookie.ts';
import { findSession, sessionPrefix } from '../identity/sessions.ts';
import { type ApiKey, type ApiKeyType, apiKeys } from '../resources/api-keys/entity.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { isClusterKey } from './client-address.ts';
import { AdminError, forbidden, invalid, notFound } from './errors.ts';
import type { Actor, AdminServices } from './route.ts';

/** The kind a key of each type carries in its text. */
export const kindOfType: Readonly<Record<ApiKeyType, ApiKeyKind>> = {
  'organisation-service': 'admin',
  'workspace-service': 'ws',
  'workspace-user': 'user',
};

export type Authentication = { actor: Actor } | { refused: AdminError; known: ApiKey | null };

/** What of a request says who is asking. */
export interface Asking {
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly clientAddress: string;
  header(name: string): string | undefined;
  /** Set on routes that the data-service token may call: their scopes, and the organisation that the query names. */
  readonly dataService?: { readonly scopes: readonly string[]; readonly organisationId: string | undefined };
}

/**
 * Who is asking: an API key, a token that an organisation has signed, or a person by the token of their session, as a bearer or in
 * the cookie. A key or token that was sent is the one that counts; the cookie, which browsers send by themselves, changes things only for pages of our own origin.
 */
export async function authenticate(
  em: EntityManager,
  asking: Asking,
  services: Pick<AdminServices, 'settings' | 'apiKeyPepper' | 'clock' | 'log'>,
): Promise<Authentication> {
  const { settings } = services;
  const credential = credentialOf(asking.header, [settings.headerPrefix, ...settings.headerPrefixAliases]);
  if (credential?.startsWith(sessionPrefix)) return authenticateSession(em, credential, services);
  if (credential !== null && asking.dataService && isClusterKey(credential, settings)) {
    return authenticateDataService(em, asking.dataService);
  }
  if (credential !== null && isToken(credential)) return authenticateToken(em, credential, asking, services);
  if (credential !== null) return authenticateKey(em, credential, services.apiKeyPepper);
  const cookie = readSessionCookie(asking.header('cookie'), settings);
  if (cookie === null) return { refused: unauthorised('An API key is required: send it as x-svc-api-key'), known: null };
  if (asking.method !== 'GET' && requestOrigin(asking.header, settings) !== 'same') {
    return { refused: forbidden('A request with a session cookie must come from a page of this service'), known: null };
  }
  return authenticateSession(em, cookie, services);
}

/** A service of the deployment, as an organisation key that may do nothing but what the route is for. */
async function authenticateDataService(
  em: EntityManager,
  { scopes, organisationId }: NonNullable<Asking['dataService']>,
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

/** Stands in the place of a row id: no row has it. */
const dataServiceId = '00000000-0000-0000-0000-000000000000';

async function authenticateSession(
  em: EntityManager,
  token: string,
  { settings, clock }: { readonly settings: Settings; readonly clock: AdminServices['clock'] },
): Promise<Authentication> {
  const found = await findSession(em, token, { idleTtlSeconds: settings.sessionIdleSeconds }, clock.now());
  if (!found) return { refused: unauthorised('The session is over; sign in again'), known: null };
  return { actor: await sessionActor(em, found.row, found.user) };
}

/**
 * Who a key belongs to. Refuses only what is positively wrong; when the store cannot be asked it throws instead. A key that
 * does not exist costs the same work as one with a wrong secret. `known` is the row a refused key pretended to be.
 */
async function authenticateKey(em: EntityManager, credential: string, pepper: Uint8Array): Promise<Authentication> {
  const key = parseApiKey(credential);
  if (!key) return { refused: unauthorised('Invalid API key'), known: null };
  const row = await em.findOne(apiKeys, { publicId: key.id });
  const digest = digestSecret(pepper, key.secret);
  const now = Date.now();
  const current = equal(digest, row?.digest ?? nobody);
  const before = equal(digest, row?.previousDigest ?? nobody);
  const inTransition = before && (row?.previousExpiresAt?.getTime() ?? 0) > now;
  if (!row || !(current || inTransition) || kindOfType[row.type] !== key.kind) {
    return { refused: unauthorised('Invalid API key'), known: row };
  }
  if (row.expiresAt && row.expiresAt.getTime() <= now) return { refused: unauthorised('This API key has expired'), known: row };
  if (current && row.secretExpiresAt && row.secretExpiresAt.getTime() <= now) {
    return { refused: unauthorised('This API key has expired: it was not rotated in time'), known: row };
  }
  return { actor: actorOfKey(row, await effectiveKeyScopes(em, row)) };
}

/** The credential of a request: the API key header of any accepted prefix, else a bearer token. */
export function credentialOf(header: (name: string) => string | undefined, prefixes: readonly string[]): string | null {
  for (const prefix of prefixes) {
    const value = header(`${prefix}api-key`);
    if (value) return value;
  }
  const bearer = /^Bearer +(\S+)$/i.exec(header('authorization') ?? '');
  return bearer?.[1] ?? null;
}

/** A key as the one who asks, with these scopes. */
export function actorOfKey(row: ApiKey, scopes: readonly string[]): Actor {
  return {
    keyId: row.id,
    type: row.type,
    organisationId: row.organisationId,
    workspaceId: row.workspaceId ?? null,
    userId: row.userId ?? null,
    scopes: new Set(scopes),
    // The key of the first start belongs to whoever runs this installation.
    actsAsOwner: row.type === 'organisation-service' && row.creationMode === 'auto',
  };
}

const nobody = '-'.repeat(43);

function equal(left: string, right: string): boolean {
  const a = Buffer.from(left, 'latin1');
  const b = Buffer.from(right, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}

function unauthorised(message: string): AdminError {
  return new AdminError('AB05', message);
}
