import { dimensionsInSql } from './dimensions.ts';
import { logGamma } from './latency-bins.ts';
import { isCountedInSql, measuresInSql } from './measures.ts';

/** Records that count, with their dimensions as columns, as the alias `r`. Append conditions. */
export const selectRecords = `select r.* from (select r.organisation_id, ${dimensionsInSql}, r.trace_id, r.record,
  r.cost_micro_usd, r.cost_nano_rest, r.saved_nano, r.outcome, r.created_at from request_records r where ${isCountedInSql}) r`;

const bin = `ceil(ln(greatest(1, (r.record->>'durationMs')::float8)) / ${logGamma})::bigint`;
const retries = `(r.record->>'retryAttemptCount')::bigint`;

/** Returns a query with one row for each record of `selectRecords` that fulfils a condition: a roll-up of one request. */
export function recordsAsRollups(condition: string): string {
  return `select r.*, r.created_at as starts_at, r.created_at as first_at, r.created_at as last_at, ${measuresInSql},
    array[(${bin} << 32) + 1] as latency,
    case when r.outcome = 'success' and ${retries} > 0 then array[(${retries} << 32) + 1] else '{}' end as retries
    from (${selectRecords}) r where ${condition}`;
}
