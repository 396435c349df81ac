import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { auditChains, auditEntries } from './entity.ts';
import { chainStart, hashEntry } from './hash-entry.ts';

/** Data of a request before its outcome is known. */
export interface AuditDraft {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly method: string;
  readonly uri: string;
  readonly requestId: string;
  /** Already masked. */
  readonly requestBody: unknown;
  readonly queryParams: Record<string, string>;
  readonly requestHeaders?: Record<string, string> | null;
  readonly userId: string | null;
  readonly userType: 'user' | 'api_key' | 'system';
  readonly resourceType: string;
  readonly action: string;
  readonly clientIp: string;
  readonly country?: string | null;
}

export interface AuditOutcome {
  readonly status: number;
  readonly errorCode: string | null;
  readonly resourceId: string | null;
}

/**
 * Stores the entry as the next link of its organisation's chain. Needs a transaction whose other rows are already written: it
 * holds the organisation's row in `audit_chains` until the commit. Locks are always taken in the order rows of the change, chain,
 * revision counter, so that there are no deadlocks.
 */
export async function addAuditEntry(
  tx: EntityManager,
  auditKey: Uint8Array,
  draft: AuditDraft,
  outcome: AuditOutcome,
): Promise<void> {
  const { organisationId } = draft;
  const [link] = await tx.execute<[{ seq: string | number; hash: string }]>(
    `insert into audit_chains as chain (organisation_id, seq, hash) values (?, 1, ?)
     on conflict (organisation_id) do update set seq = chain.seq + 1 returning seq, hash`,
    [organisationId, chainStart],
  );
  const entry = {
    ...draft,
    requestHeaders: draft.requestHeaders ?? null,
    country: draft.country ?? null,
    id: newId(),
    createdAt: new Date(),
    responseStatusCode: outcome.status,
    errorCode: outcome.errorCode,
    resourceId: outcome.resourceId,
    seq: Number(link.seq),
    previousHash: link.hash,
  };
  const hash = hashEntry(auditKey, entry);
  tx.create(auditEntries, { ...entry, hash });
  await tx.flush();
  await tx.nativeUpdate(auditChains, { organisationId }, { hash });
}
