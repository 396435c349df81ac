import { digestSecret, kindOfType, newApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { newId } from '../../db/new-id.ts';
import type { Change } from '../../publish/write-change.ts';
import { type ApiKey, apiKeys } from './entity.ts';
import { optionDefaults } from './options.ts';

/** A key before it has a secret. Omitted fields are empty. */
export type NewKey = Pick<ApiKey, 'organisationId' | 'type' | 'name' | 'scopes' | 'creationMode'> &
  Partial<Omit<ApiKey, 'id' | 'publicId' | 'digest' | 'lastCharacters' | 'createdAt' | 'lastUpdatedAt' | 'revision'>>;

/** Adds a key with a new secret and announces it to gateways. Only the return value contains the text of the key. */
export function insertKey(change: Change, pepper: Uint8Array, sent: NewKey): { row: ApiKey; text: string } {
  const key = newApiKey(kindOfType[sent.type]);
  const now = new Date();
  const row = change.tx.create(apiKeys, {
    workspaceId: null,
    userId: null,
    previousDigest: null,
    previousExpiresAt: null,
    grantedByKeyId: null,
    grantedByUserId: null,
    defaultConfigId: null,
    defaultMetadata: {},
    allowConfigOverride: true,
    usageLimits: null,
    rateLimits: [],
    exhaustedAt: null,
    lastResetAt: null,
    rotationPeriod: null,
    rotationPeriodDays: null,
    nextRotationAt: null,
    keyTransitionPeriodMs: null,
    secretExpiresAt: null,
    lastRotatedAt: null,
    rotationNoticeAt: null,
    expiresAt: null,
    ...optionDefaults,
    ...sent,
    id: newId(),
    publicId: key.id,
    digest: digestSecret(pepper, key.secret),
    lastCharacters: key.text.slice(-4),
    grantedScopes: sent.scopes,
    createdAt: now,
    lastUpdatedAt: now,
  });
  announceKey(change, row, 'upsert');
  return { row, text: key.text };
}

/** Names the key in the audit entry, and announces it to gateways. */
export function announceKey(change: Change, row: ApiKey, op: 'upsert' | 'delete'): void {
  change.about(row);
  change.emit({ kind: 'api-key', id: row.publicId, op });
}
