import type { RecordWriter } from '../../define-resource.ts';
import { rowOfTrace } from './trace-of.ts';

/** Adds the costs of new records to the rows of runs that they were made for, if the key of the run made them. */
export const addCosts: RecordWriter = async (tx, rows) => {
  for (const { record, cost, before } of rows) {
    const row = rowOfTrace(record.traceId);
    if (row === null || record.organisationId === null || cost === null) continue;
    await tx.execute(
      `update prompt_test_results t set cost_nano = coalesce(t.cost_nano, 0) + ?
       from prompt_test_runs r
       where r.id = t.run_id and t.run_id = ? and t.row_number = ? and t.organisation_id = ? and r.key_id::text = ?`,
      [cost - (before?.cost ?? 0), row.runId, row.rowNumber, record.organisationId, record.apiKeyId],
    );
  }
};
