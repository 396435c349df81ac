import { type AuditDraft, addAuditEntry } from '../audit/audit-entry.ts';
import { appendEvents, type ChangeEvent } from '../publish/append-events.ts';
import type { EntityManager } from './open-database.ts';

/** What a change may do: work on rows, and say which documents it touched. */
export interface Change {
  readonly tx: EntityManager;
  /** Names a document that gateways must read again (or forget). Repeating one is harmless. */
  emit(event: ChangeEvent): void;
  /** The row the audit entry names. */
  about(resourceId: string): void;
}

/**
 * Runs a change as one transaction: its rows, one audit entry and its outbox events are stored together or not at all.
 * Throws what `work` throws, and the signal's reason when the caller has been answered meanwhile.
 */
export async function writeChange<T>(
  em: EntityManager,
  audit: AuditDraft,
  signal: AbortSignal | null,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  return em.transactional(async (tx) => {
    const events = new Map<string, ChangeEvent>();
    let resourceId: string | null = null;
    const result = await work({
      tx,
      emit: (event) => void events.set(`${event.kind}:${event.id}`, event),
      about: (id) => {
        resourceId = id;
      },
    });
    addAuditEntry(tx, audit, { status: 200, errorCode: null, resourceId });
    await tx.flush();
    signal?.throwIfAborted();
    // Last, because it takes the one lock that all changes share: held from here to the commit only.
    await appendEvents(tx, audit.organisationId, [...events.values()]);
    return result;
  });
}
