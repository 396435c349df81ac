import { createHmac } from 'node:crypto';
import { canonicalJson } from '../../core/contract/values/json/canonical-json.ts';
import type { AuditEntry } from './entity.ts';

/** Hashed fields of an entry: all fields and its position in the chain. */
export type HashedEntry = Omit<AuditEntry, 'hash' | 'seq' | 'previousHash'> & {
  readonly seq: number;
  readonly previousHash: string;
};

/** Hash before the first entry of a chain. */
export const chainStart = '';

/**
 * Returns the HMAC-SHA-256 of an entry and of the previous hash, base64url. Changing, dropping, inserting or swapping entries
 * without the key breaks the chain. The order of the fields is part of the format.
 */
export function hashEntry(auditKey: Uint8Array, entry: HashedEntry): string {
  const parts = [
    entry.previousHash,
    entry.seq,
    entry.id,
    entry.organisationId,
    entry.workspaceId ?? null,
    entry.createdAt.toISOString(),
    entry.method,
    entry.uri,
    entry.requestId,
    entry.requestBody ?? null,
    entry.queryParams,
    entry.requestHeaders ?? null,
    entry.userId ?? null,
    entry.userType,
    entry.responseStatusCode,
    entry.errorCode ?? null,
    entry.resourceType,
    entry.resourceId ?? null,
    entry.action,
    entry.clientIp,
    entry.country ?? null,
  ];
  return createHmac('sha256', auditKey).update(canonicalJson(parts)).digest('base64url');
}
