import { executeBound } from '../db/execute-bound.ts';
import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { AuditEntry } from './entity.ts';
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

/** Id of a changed row, and its workspace and slug if it has them. */
export interface AuditedRow {
  readonly id: string;
  readonly slug?: string | null | undefined;
  readonly workspaceId?: string | null | undefined;
}

export interface AuditOutcome {
  readonly status: number;
  readonly errorCode: string | null;
  /** Null if nothing was changed. */
  readonly about: AuditedRow | null;
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
  const [link] = await executeBound<{ seq: string | number; hash: string }>(
    tx,
    `insert into audit_chains as chain (organisation_id, seq, hash) values ($1, 1, $2)
     on conflict (organisation_id) do update set seq = chain.seq + 1 returning seq, hash`,
    [organisationId, chainStart],
  );
  if (!link) throw new Error('the audit chain returned no link');
  const entry = {
    ...draft,
    // An organisation key or an administrator may name a row of a workspace by its id alone.
    workspaceId: outcome.about?.workspaceId ?? draft.workspaceId,
    requestHeaders: draft.requestHeaders ?? null,
    country: draft.country ?? null,
    id: newId(),
    createdAt: new Date(),
    responseStatusCode: outcome.status,
    errorCode: outcome.errorCode,
    resourceId: outcome.about?.id ?? null,
    seq: Number(link.seq),
    previousHash: link.hash,
  };
  const row: AuditEntry = { ...entry, hash: hashEntry(auditKey, entry) };
  const values = names.map((name) => (isJson.has(name) && row[name] !== null ? JSON.stringify(row[name]) : row[name]));
  await executeBound(tx, insertEntry, [...values, row.hash, organisationId]);
}

type Property = Extract<keyof AuditEntry, string>;

/** Columns of `audit_entries` by property. */
const columns: Readonly<Record<Property, string>> = {
  id: 'id',
  organisationId: 'organisation_id',
  workspaceId: 'workspace_id',
  createdAt: 'created_at',
  method: 'method',
  uri: 'uri',
  requestId: 'request_id',
  requestBody: 'request_body',
  queryParams: 'query_params',
  requestHeaders: 'request_headers',
  userId: 'user_id',
  userType: 'user_type',
  responseStatusCode: 'response_status_code',
  errorCode: 'error_code',
  resourceType: 'resource_type',
  resourceId: 'resource_id',
  action: 'action',
  clientIp: 'client_ip',
  country: 'country',
  seq: 'seq',
  previousHash: 'previous_hash',
  hash: 'hash',
};
const names = Object.keys(columns) as Property[];
const isJson: ReadonlySet<Property> = new Set(['requestBody', 'queryParams', 'requestHeaders']);

/** One statement for both writes, because every change of the control plane waits for them. */
const insertEntry = `with entry as (
    insert into audit_entries (${Object.values(columns).join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')}))
  update audit_chains set hash = $${names.length + 1} where organisation_id = $${names.length + 2}`;
