import type { DocumentKind } from '../../core/contract/protocol/documents.ts';
import type { ChangeNotice } from '../../core/contract/protocol/notices/change-notice.ts';
import type { EntityManager } from '../db/open-database.ts';

/** A document that changed, by kind and id as in `core/contract/protocol/documents.ts`. */
export interface ChangeEvent {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly op: 'upsert' | 'delete';
}

/**
 * Assigns the next revisions to the events and puts them into the outbox. Must be the last statement of its transaction: the
 * counter row stays locked until the commit, which makes revisions gapless and in commit order. Returns the notices that are
 * valid once it is committed.
 */
export async function appendEvents(
  tx: EntityManager,
  organisationId: string,
  events: readonly ChangeEvent[],
): Promise<ChangeNotice[]> {
  if (events.length === 0) return [];
  const numbered = events.map((event, index) => ({ ...event, n: index + 1 }));
  const rows = await tx.execute<{ revision: string | number }[]>(
    `with next as (update change_counter set revision = revision + ? returning revision)
     insert into outbox (revision, organisation_id, kind, document_id, op, created_at)
     select next.revision - ? + e.n, ?, e.kind, e.id, e.op, now()
     from next, jsonb_to_recordset(?::jsonb) as e(n bigint, kind text, id text, op text)
     returning revision`,
    [events.length, events.length, organisationId, JSON.stringify(numbered)],
    'all',
  );
  const first = Math.min(...rows.map((row) => Number(row.revision)));
  return events.map(({ kind, id, op }, index) => ({ revision: first + index, kind, id, op }));
}
