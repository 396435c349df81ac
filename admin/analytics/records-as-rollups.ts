import { dimensionsInSql, dimensionsOfCalls } from './dimensions.ts';
import { logGamma } from './latency-bins.ts';
import { isCountedInSql, measuresOfCallsInSql } from './measures.ts';

/** Records that count, with their dimensions as columns, as the alias `r`. Append conditions. */
export const selectRecords = `select r.* from (select r.organisation_id, ${dimensionsInSql}, r.trace_id, r.record,
  r.cost_micro_usd, r.cost_nano_rest, r.saved_nano, r.outcome, r.created_at from request_records r where ${isCountedInSql}) r`;

/** One row for each record, and one with its `call` for each response that no client received. */
const selectCalls = `select r.* from (select r.organisation_id, ${dimensionsOfCalls}, r.trace_id, r.record,
  r.cost_micro_usd, r.cost_nano_rest, r.saved_nano, r.outcome, r.created_at, d.call from request_records r
  cross join lateral (select null::jsonb as call union all select jsonb_array_elements(r.record->'discarded')) d
  where ${isCountedInSql}) r`;

const bin = `ceil(ln(greatest(1, (r.record->>'durationMs')::float8)) / ${logGamma})::bigint`;
const retries = `(r.record->>'retryAttemptCount')::bigint`;

/**
 * Returns a query with one row for each record that fulfils a condition, a roll-up of one request, and one for each response of such records
 * that no client received: a roll-up of its tokens and its cost under its own model.
 */
export function recordsAsRollups(condition: string): string {
  return `select r.*, r.created_at as starts_at, r.created_at as first_at, r.created_at as last_at, ${measuresOfCallsInSql},
    case when r.call is null then array[(${bin} << 32) + 1] else '{}' end as latency,
    case when r.call is null and r.outcome = 'success' and ${retries} > 0 then array[(${retries} << 32) + 1] else '{}' end as retries
    from (${selectCalls}) r where ${condition}`;
}
