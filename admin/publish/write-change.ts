import { setTimeout as sleep } from 'node:timers/promises';
import { DeadlockException, OptimisticLockError, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { ChangeNotice } from '../../core/contract/protocol/notices/change-notice.ts';
import { type AuditDraft, type AuditedRow, type AuditOutcome, addAuditEntry } from '../audit/audit-entry.ts';
import type { EntityManager } from '../db/open-database.ts';
import { appendEvents, type ChangeEvent } from './append-events.ts';

/** Context of a change: access to rows, and the documents it touched. */
export interface Change {
  readonly tx: EntityManager;
  /** Adds an event for a document that gateways must read again or discard. Repetition is harmless. */
  emit(event: ChangeEvent): void;
  /** Sets the row that the audit entry names. If the row belongs to a workspace, the entry names this workspace too. */
  about(row: AuditedRow): void;
  /** Sets the user of the audit entry, for a change that creates its own user. */
  by(user: { readonly id: string }): void;
  /** Sets the status of the reply in the audit entry, if it is not 200. */
  replies(status: number): void;
  /** Sets the outcome of the audit entry, for a request that is refused although it changes something. `reason` replaces the request body. */
  refuse(outcome: Pick<AuditOutcome, 'status' | 'errorCode'>, reason: Readonly<Record<string, string>>): void;
}

/** Callbacks around the commit of a change. */
interface CommitHooks {
  /** Runs when the commit begins. From then on the change may be stored, although its signal is aborted. */
  readonly begins?: () => void;
  /** Receives the notices to publish, if there are any. */
  readonly committed?: (notices: readonly ChangeNotice[]) => void;
}

/** Maximum attempts of a change that conflicts with concurrent changes. */
const attemptsMax = 12;
/** Maximum retries after a unique-constraint violation. */
const takenMax = 3;

/**
 * Runs a change as one transaction: its rows, one audit entry and its outbox events are stored together or not at all. Throws
 * what `work` throws, and the signal's reason if the client has already received a reply.
 * If a concurrent change modified or created the same row, `work` runs again on a fresh unit of work. It must therefore find its
 * rows through `change.tx` and have no effects that cannot be repeated.
 */
export async function writeChange<T>(
  em: EntityManager,
  auditKey: Uint8Array,
  audit: AuditDraft,
  signal: AbortSignal | null,
  work: (change: Change) => Promise<T>,
  { begins, committed }: CommitHooks = {},
): Promise<T> {
  for (let attempt = 1, taken = 0; ; attempt++) {
    try {
      const { result, notices } = await writeOnce(em.fork(), auditKey, audit, { signal, begins }, work);
      if (notices.length > 0) committed?.(notices);
      return result;
    } catch (error) {
      if (attempt === attemptsMax || signal?.aborted || !isOvertaken(error)) throw error;
      // A concurrent change created the same row first. The next run of `work` finds it and updates or refuses it.
      if (error instanceof UniqueConstraintViolationException && ++taken > takenMax) throw error;
      await sleep(Math.random() * 5 * attempt);
    }
  }
}

function isOvertaken(error: unknown): boolean {
  const kinds = [OptimisticLockError, DeadlockException, UniqueConstraintViolationException];
  return kinds.some((kind) => error instanceof kind);
}

async function writeOnce<T>(
  em: EntityManager,
  auditKey: Uint8Array,
  audit: AuditDraft,
  { signal, begins }: { readonly signal: AbortSignal | null; readonly begins: CommitHooks['begins'] },
  work: (change: Change) => Promise<T>,
): Promise<{ result: T; notices: readonly ChangeNotice[] }> {
  return em.transactional(async (tx) => {
    const events = new Map<string, ChangeEvent>();
    let about: AuditedRow | null = null;
    let draft = audit;
    let outcome: Pick<AuditOutcome, 'status' | 'errorCode'> = { status: 200, errorCode: null };
    const result = await work({
      tx,
      emit: (event) => void events.set(`${event.kind}:${event.id}`, event),
      about: (row) => {
        about = row;
      },
      by: ({ id }) => {
        draft = { ...draft, userId: id };
      },
      replies: (status) => {
        outcome = { status, errorCode: null };
      },
      refuse: (refusal, reason) => {
        outcome = refusal;
        draft = { ...draft, requestBody: reason };
      },
    });
    await tx.flush();
    await addAuditEntry(tx, auditKey, draft, { ...outcome, about });
    signal?.throwIfAborted();
    // Last, because it takes the lock that all changes share, which is then held only until the commit.
    const notices = await appendEvents(tx, audit.organisationId, [...events.values()]);
    // It may have waited for the lock.
    signal?.throwIfAborted();
    begins?.();
    return { result, notices };
  });
}
