import type { RequestRecord } from '../../../core/contract/plugin/record.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { feedbacks } from './entity.ts';

/** True if a guardrail of this request has a feedback for its verdict. */
export function hasFeedback(record: RequestRecord): boolean {
  return record.guardrails?.some(({ feedback }) => feedback !== null) ?? false;
}

/**
 * Stores the feedback of guardrails (`on_success.feedback`, `on_fail.feedback`) for the traces of these records. The metadata names the
 * checks by their results. Call it once per record, in the transaction that stores the record.
 */
export async function storeVerdicts(tx: EntityManager, records: readonly RequestRecord[]): Promise<void> {
  for (const record of records) {
    if (record.organisationId === null || record.workspaceId === null) continue;
    const createdAt = new Date(record.createdAt);
    for (const { id: guardrailId, feedback, checks } of record.guardrails ?? []) {
      if (feedback === null) continue;
      const namesOf = (wanted: (check: (typeof checks)[number]) => boolean) =>
        checks
          .filter(wanted)
          .map(({ id }) => id)
          .join(', ');
      const metadata = {
        successfulChecks: namesOf(({ verdict, error }) => verdict && error === null),
        failedChecks: namesOf(({ verdict, error }) => !verdict && error === null),
        erroredChecks: namesOf(({ error }) => error !== null),
      };
      tx.create(feedbacks, {
        ...{ id: newId(), organisationId: record.organisationId, workspaceId: record.workspaceId, traceId: record.traceId },
        ...{ value: feedback.value, weight: feedback.weight, metadata, guardrailId },
        ...{ createdAt, lastUpdatedAt: createdAt },
      });
    }
  }
  await tx.flush();
}
