import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { newId } from '../../db/new-id.ts';
import type { RecordWriter } from '../../define-resource.ts';
import { feedbacks } from './entity.ts';

/**
 * Stores the feedback of guardrails (`on_success.feedback`, `on_fail.feedback`) for the traces of these records. A value of 0 is no feedback,
 * because it would change the averages. Members that name
 * the checks by their results are added to the metadata.
 */
export const storeVerdicts: RecordWriter = async (tx, rows) => {
  const rated = rows.filter(({ record, before }) => !before && record.guardrails?.some(isRated));
  if (rated.length === 0) return;
  for (const { record } of rated) {
    if (record.organisationId === null || record.workspaceId === null) continue;
    const createdAt = new Date(record.createdAt);
    for (const guardrail of record.guardrails ?? []) {
      if (!isRated(guardrail)) continue;
      const { id: guardrailId, feedback, checks } = guardrail;
      const namesOf = (wanted: (check: (typeof checks)[number]) => boolean) =>
        checks
          .filter(wanted)
          .map(({ id }) => id)
          .join(', ');
      const metadata = {
        ...feedback.metadata,
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
};

type GuardrailPart = NonNullable<RequestRecord['guardrails']>[number];

function isRated(guardrail: GuardrailPart): guardrail is GuardrailPart & { feedback: NonNullable<GuardrailPart['feedback']> } {
  return guardrail.feedback !== null && guardrail.feedback.value !== 0;
}
