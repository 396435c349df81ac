import { newId } from '../db/new-id.ts';
import type { EntityManager } from '../db/open-database.ts';
import { auditEntries } from './entity.ts';

/** What is known of a request before its outcome is. */
export interface AuditDraft {
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly method: string;
  readonly uri: string;
  readonly requestId: string;
  /** Already masked. */
  readonly requestBody: unknown;
  readonly queryParams: Record<string, string>;
  readonly userId: string | null;
  readonly userType: 'user' | 'api_key' | 'system';
  readonly resourceType: string;
  readonly action: string;
  readonly clientIp: string;
}

export interface AuditOutcome {
  readonly status: number;
  readonly errorCode: string | null;
  readonly resourceId: string | null;
}

/** Adds the entry to the unit of work; it is stored with whatever that stores, or not at all. */
export function addAuditEntry(tx: EntityManager, draft: AuditDraft, outcome: AuditOutcome): void {
  tx.create(auditEntries, {
    ...draft,
    id: newId(),
    createdAt: new Date(),
    responseStatusCode: outcome.status,
    errorCode: outcome.errorCode,
    resourceId: outcome.resourceId,
  });
}
