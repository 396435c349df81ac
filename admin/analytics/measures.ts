import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';

/**
 * A sum that roll-ups hold: how one request counts, in a record and in SQL over the alias `r` of `request_records`. Amounts of money are
 * whole nano-USD.
 */
export interface Measure {
  of(record: RequestRecord, costNano: number, savedNano: number): number;
  readonly sql: string;
  /** Set for sums in which each call of a request counts: the part of a response that no client received, whose JSON is the argument. */
  readonly callSql?: (call: string) => string;
}

/**
 * Maximum of one request. Providers and clients report usage, and a sum of larger values could exceed its column. The record keeps
 * the reported value.
 */
const amountMax = 1e12;
/** A million US dollars. */
const costNanoMax = 1e15;

/** The rule of `isCounted` in SQL over the alias `r` of `request_records`. */
export const isCountedInSql = `r.record->'clientSpan'->>'callId' is null`;

const field = (name: string) => `least((r.record->>'${name}')::numeric, ${amountMax})::bigint`;
const callField = (call: string, name: string) => `least((${call}->>'${name}')::numeric, ${amountMax})::bigint`;
const durationUs = `least(round((r.record->>'durationMs')::numeric * 1000), ${amountMax})::bigint`;
const isHit = `r.record->>'cacheStatus' in ('HIT', 'SEMANTIC HIT')`;
const savedNano = `least(coalesce(r.saved_nano, 0), ${costNanoMax})`;
const isSemantic = `r.record->>'cacheStatus' = 'SEMANTIC HIT'`;

/** Every sum, by its column. */
const table = {
  requests: { of: () => 1, sql: '1' },
  /** Ended without success. Open sessions are neither. */
  errors: {
    of: ({ outcome }) => (outcome === 'success' || outcome === 'open' ? 0 : 1),
    sql: `case when r.outcome in ('success', 'open') then 0 else 1 end`,
  },
  cost_nano: {
    of: (_, costNano) => Math.min(costNano, costNanoMax),
    // `least` ignores null: without the inner coalesce an unknown cost would be the maximum.
    sql: `least(coalesce(r.cost_micro_usd::numeric * 1000 + r.cost_nano_rest, 0), ${costNanoMax})::bigint`,
    callSql: (call) => `least(coalesce((${call}->>'costNano')::numeric, 0), ${costNanoMax})::bigint`,
  },
  /** Every kind of input, as in logs. */
  input_tokens: {
    of: (record) => bounded(record.inputTokens) + bounded(record.cacheReadTokens) + bounded(record.cacheWriteTokens),
    sql: `${field('inputTokens')} + ${field('cacheReadTokens')} + ${field('cacheWriteTokens')}`,
    callSql: (call) => ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens'].map((name) => callField(call, name)).join(' + '),
  },
  output_tokens: {
    of: (record) => bounded(record.outputTokens),
    sql: field('outputTokens'),
    callSql: (call) => callField(call, 'outputTokens'),
  },
  duration_us: { of: ({ durationMs }) => bounded(Math.round(durationMs * 1000)), sql: durationUs },
  cache_hits: { of: (record) => (isHitOf(record) ? 1 : 0), sql: `case when ${isHit} then 1 else 0 end` },
  semantic_hits: {
    of: ({ cacheStatus }) => (cacheStatus === 'SEMANTIC HIT' ? 1 : 0),
    sql: `case when ${isSemantic} then 1 else 0 end`,
  },
  hit_duration_us: {
    of: (record) => (isHitOf(record) ? bounded(Math.round(record.durationMs * 1000)) : 0),
    sql: `case when ${isHit} then ${durationUs} else 0 end`,
  },
  /** Cost of the calls whose replies the simple cache repeated. */
  simple_saved_nano: {
    of: ({ cacheStatus }, _, saved) => (cacheStatus === 'HIT' ? Math.min(saved, costNanoMax) : 0),
    sql: `case when ${isSemantic} then 0 else ${savedNano} end`,
  },
  /** Cost of the calls whose replies the semantic cache repeated. */
  semantic_saved_nano: {
    of: ({ cacheStatus }, _, saved) => (cacheStatus === 'SEMANTIC HIT' ? Math.min(saved, costNanoMax) : 0),
    sql: `case when ${isSemantic} then ${savedNano} else 0 end`,
  },
  /** Succeeded at another target than the first. */
  fallbacks: {
    of: ({ outcome, attempts }) => (outcome === 'success' && isFallback(attempts) ? 1 : 0),
    sql: `case when r.outcome = 'success' and exists (select from jsonb_array_elements(r.record->'attempts') one
      where one->>'targetPath' <> r.record#>>'{attempts,0,targetPath}') then 1 else 0 end`,
  },
} as const satisfies Readonly<Record<string, Measure>>;

export type MeasureName = keyof typeof table;
export const measureNames = Object.keys(table) as MeasureName[];
export const measures: readonly Measure[] = Object.values(table);

/** `<expression> as <column>` of every measure, for rows of `request_records` with the alias `r`. */
export const measuresInSql = Object.entries(table)
  .map(([name, { sql }]) => `${sql} as ${name}`)
  .join(', ');

/**
 * The same for calls with the alias `r`: requests, whose `call` is null, without the responses that no client received, and such responses.
 */
export const measuresOfCallsInSql = Object.entries<Measure>(table)
  .map(([name, { sql, callSql }]) => {
    if (!callSql) return `case when r.call is null then ${sql} else 0 end as ${name}`;
    const others = `(select coalesce(sum(${callSql('d')}), 0) from jsonb_array_elements(r.record->'discarded') d)`;
    return `case when r.call is not null then ${callSql('r.call')} when r.record->'discarded' is null then ${sql}
      else greatest(0, ${sql} - ${others})::bigint end as ${name}`;
  })
  .join(', ');

function bounded(amount: number): number {
  return Math.min(amount, amountMax);
}

function isHitOf({ cacheStatus }: RequestRecord): boolean {
  return cacheStatus === 'HIT' || cacheStatus === 'SEMANTIC HIT';
}

function isFallback(attempts: RequestRecord['attempts']): boolean {
  const first = attempts[0]?.targetPath;
  return attempts.some(({ targetPath }) => targetPath !== first);
}
