import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { RecordWriter } from '../define-resource.ts';
import { type Dimension, dimensions } from './grains.ts';
import { measureNames } from './measures.ts';
import { RollupBatch } from './rollup-batch.ts';

/** Adds the new records to the roll-ups. A record that replaces an earlier one of its session counts instead of it. */
export const writeRollups: RecordWriter = async (tx, rows) => {
  const batch = new RollupBatch();
  for (const { record, cost, before } of rows) {
    batch.add(record, cost);
    if (before) batch.add(before.record, before.cost, -1);
  }
  await applyRollups(tx, batch);
};

/** Writes the changes of a batch with one statement. Must run in the transaction that changes the records. */
export async function applyRollups(tx: EntityManager, batch: RollupBatch): Promise<void> {
  const changes = batch.changes();
  if (changes.length > 0) await executeBound(tx, upsert, [JSON.stringify(changes)]);
}

const time = (at: number, other: string): string => `coalesce(to_timestamp((sent->>${at})::float8 / 1000), '${other}')`;

/** Columns with the expressions of their values, in the order of the values of a change. */
const columns: Readonly<Record<string, string>> = {
  organisation_id: '(sent->>0)::uuid',
  grain: 'sent->>1',
  starts_at: time(2, 'infinity'),
  key: '(sent->>3)::uuid',
  first_at: time(4, 'infinity'),
  last_at: time(5, '-infinity'),
  ...Object.fromEntries(dimensions.map((name, at) => [name, `(sent->>${6 + at})::${typeOf(name)}`])),
  ...Object.fromEntries(measureNames.map((name, at) => [name, `(sent->>${6 + dimensions.length + at})::bigint`])),
  latency: `(sent->>${6 + dimensions.length + measureNames.length})::bigint[]`,
  retries: `(sent->>${7 + dimensions.length + measureNames.length})::bigint[]`,
};

function typeOf(name: Dimension): string {
  if (name === 'status' || name === 'prompt_version') return 'integer';
  return name === 'workspace_id' ? 'uuid' : 'text';
}

const updates = [
  ...measureNames.map((name) => `${name} = old.${name} + excluded.${name}`),
  'first_at = least(old.first_at, excluded.first_at)',
  'last_at = greatest(old.last_at, excluded.last_at)',
  'latency = add_packed_counts(old.latency, excluded.latency)',
  `retries = case when excluded.retries = '{}' then old.retries else add_packed_counts(old.retries, excluded.retries) end`,
];

// Rows are locked in the order of their keys by every writer, so that two of them never wait for each other.
const upsert = `insert into usage_rollups as old (${Object.keys(columns).join(', ')})
  select ${Object.values(columns).join(', ')}
  from jsonb_array_elements($1::jsonb) sent
  order by sent->>3, sent->>0, sent->>1, sent->>2
  on conflict (organisation_id, grain, starts_at, key) do update set ${updates.join(', ')}`;
