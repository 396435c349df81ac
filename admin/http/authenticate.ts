import { timingSafeEqual } from 'node:crypto';
import { type ApiKeyKind, digestSecret, parseApiKey } from '../../core/contract/api-key.ts';
import type { EntityManager } from '../db/open-database.ts';
import { type ApiKey, type ApiKeyType, apiKeys } from '../resources/api-keys/entity.ts';
import { AdminError } from './errors.ts';
import type { Actor } from './route.ts';

/** The kind a key of each type carries in its text. */
export const kindOfType: Readonly<Record<ApiKeyType, ApiKeyKind>> = {
  'organisation-service': 'admin',
  'workspace-service': 'ws',
  'workspace-user': 'user',
};

export type Authentication = { actor: Actor } | { refused: AdminError; known: ApiKey | null };

/**
 * Who a key belongs to. Refuses only what is positively wrong; when the store cannot be asked it throws instead. A key that
 * does not exist costs the same work as one with a wrong secret. `known` is the row a refused key pretended to be.
 */
export async function authenticate(em: EntityManager, credential: string | null, pepper: Uint8Array): Promise<Authentication> {
  if (credential === null) return { refused: unauthorised('An API key is required: send it as x-svc-api-key'), known: null };
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
  return { actor: toActor(row) };
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

function toActor(row: ApiKey): Actor {
  return {
    keyId: row.id,
    type: row.type,
    organisationId: row.organisationId,
    workspaceId: row.workspaceId ?? null,
    userId: row.userId ?? null,
    scopes: new Set(row.scopes),
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
