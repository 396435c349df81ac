import type { Condition } from '../logs/filters.ts';
import { recordConditions, type Selection } from './source.ts';

/** Returns a condition on `feedbacks f`: a request of its trace passes the filters. Null: there are none. */
export function tracesOf(selection: Selection): Condition | null {
  const { conditions, isFiltered } = recordConditions(selection);
  if (!isFiltered) return null;
  const text = `exists (select from (${conditions.text}) r where r.trace_id = f.trace_id and r.workspace_id = f.workspace_id)`;
  return { text, values: conditions.values };
}

/** Returns the models of the traces that have feedback in the range, with the columns `workspace_id`, `trace_id` and `model`. */
export function modelsOfTraces({ organisationId, range }: Selection): Condition {
  return {
    text: `select distinct r.workspace_id, r.trace_id, r.model from feedbacks f join request_records r
      on r.trace_id = f.trace_id and r.organisation_id = f.organisation_id and r.workspace_id = f.workspace_id
      where f.organisation_id = ? and f.created_at >= ? and f.created_at < ? and r.model is not null`,
    values: [organisationId, new Date(range.fromMs), new Date(range.toMs)],
  };
}
