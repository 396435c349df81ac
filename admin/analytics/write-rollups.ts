import { hash } from 'node:crypto';
import { executeBound } from '../db/execute-bound.ts';
import type { EntityManager } from '../db/open-database.ts';
import type { RecordWriter } from '../define-resource.ts';
import { dimensionSources, dimensions } from './dimensions.ts';
import { dayGrains, type Grain, quarterGrains, weekGrains } from './grains.ts';
import { measureNames } from './measures.ts';
import { binFactor, RollupBatch, type RollupChange } from './rollup-batch.ts';
import { shareDays } from './sum-days.ts';

/** Adds the new records to the roll-ups. A record that replaces an earlier one of its session counts instead of it. */
export const writeRollups: RecordWriter = async (tx, rows, nowMs) => {
  const batch = new RollupBatch(nowMs);
  for (const { record, cost, saved, before } of rows) {
    batch.add(record, cost, saved);
    if (before) batch.add(before.record, before.cost, 0, -1);
  }
  await applyRollups(tx, batch);
};

/** Writes the changes of a batch with one statement. Must run in the transaction that changes the records. */
export async function applyRollups(tx: EntityManager, batch: RollupBatch): Promise<void> {
  if (batch.changes.length === 0) return;
  await shareDays(tx, batch.late);
  await executeBound(tx, upsert, encodeChanges(batch.changes));
}

/**
 * Returns the parameters of the statement: an array for each column, in the text form of PostgreSQL. A column without values is an empty array,
 * because most batches have no cached replies, prompts or retries.
 */
export function encodeChanges(changes: readonly RollupChange[]): string[] {
  const elements: (string | number)[] = new Array(changes.length);
  return columns.map(({ of, none }) => {
    let isEmpty = true;
    for (let at = 0; at < changes.length; at++) {
      const element = of(changes[at] as RollupChange);
      if (element !== none) isEmpty = false;
      elements[at] = element;
    }
    return isEmpty ? '{}' : `{${elements.join(',')}}`;
  });
}

/** Column of the changes. Each column is sent as the text of one array, which takes the database a fifth of the time of JSON. */
interface SentColumn {
  readonly name: string;
  readonly type: string;
  /** Returns an element of the array, in the text form of PostgreSQL. */
  of(change: RollupChange): string | number;
  /** The array element for null. */
  readonly none?: string | number;
}

/** An element of an array of arrays without counts. */
const noCounts = '"{}"';

const columns: readonly SentColumn[] = [
  { name: 'organisation_id', type: 'uuid', of: ({ organisationId }) => organisationId },
  { name: 'key', type: 'uuid', of: ({ name }) => digestOf(name) },
  { name: 'grain', type: 'text', of: ({ grain }) => grain.name },
  { name: 'starts_ms', type: 'bigint', of: ({ startsAtMs }) => startsAtMs },
  // A change without new requests updates an existing row and keeps its times.
  { name: 'first_ms', type: 'bigint', of: ({ firstMs }) => (Number.isFinite(firstMs) ? firstMs : 'NULL') },
  { name: 'last_ms', type: 'bigint', of: ({ lastMs }) => (Number.isFinite(lastMs) ? lastMs : 'NULL') },
  ...dimensions.map((name, at) => ({
    name,
    type: dimensionSources[name].type,
    of: ({ values }: RollupChange) => element(values[at] ?? null),
    none: 'NULL',
  })),
  ...measureNames.map((name, at) => ({ name, type: 'bigint', of: ({ amounts }: RollupChange) => amounts[at] ?? 0, none: 0 })),
  { name: 'latency', type: 'text', of: ({ latency }) => packed(latency), none: noCounts },
  { name: 'retries', type: 'text', of: ({ retries }) => packed(retries), none: noCounts },
];

function element(value: string | number | null): string | number {
  if (typeof value !== 'string') return value ?? 'NULL';
  // Two searches for a character take a third of the time of the expression.
  return value.includes('"') || value.includes('\\') ? `"${value.replace(/["\\]/g, '\\$&')}"` : `"${value}"`;
}

/** Digests by name. Most batches write rows of the same names, and a digest takes a microsecond. */
let digests = new Map<string, string>();
const digestsMax = 10_000;

function digestOf(name: string): string {
  const known = digests.get(name);
  if (known !== undefined) return known;
  const digest = hash('sha256', name).slice(0, 32);
  if (digests.size >= digestsMax) digests = new Map();
  digests.set(name, digest);
  return digest;
}

/** Adds the counts of the same bin. Returns them in the text form of an array. */
function packed(counts: readonly number[]): string {
  if (counts.length < 2) return counts.length === 0 ? noCounts : `"{${counts[0]}}"`;
  const sums = new Map<number, number>();
  for (const counted of counts) {
    const bin = Math.round(counted / binFactor);
    sums.set(bin, (sums.get(bin) ?? 0) + counted - bin * binFactor);
  }
  let text = '';
  for (const [bin, number] of sums) if (number !== 0) text += `,${bin * binFactor + number}`;
  return `"{${text.slice(1)}}"`;
}

const keys = ['organisation_id', 'grain', 'starts_at', 'key'];
const written = [...keys, 'first_at', 'last_at', ...dimensions, ...measureNames, 'latency', 'retries'];

/**
 * Counts of the same bin may be in a row several times: appending them costs a tenth of adding them. They are added when the row has more
 * than this.
 */
const countsMax = 128;
const addCounts = (name: string) => `${name} = case when excluded.${name} = '{}' then old.${name}
    when cardinality(old.${name}) + cardinality(excluded.${name}) <= ${countsMax} then old.${name} || excluded.${name}
    else add_packed_counts(old.${name}, excluded.${name}) end`;

const updates = [
  ...measureNames.map((name) => `${name} = old.${name} + excluded.${name}`),
  'first_at = least(old.first_at, excluded.first_at)',
  'last_at = greatest(old.last_at, excluded.last_at)',
  addCounts('latency'),
  addCounts('retries'),
];

const namesOf = (some: readonly Grain[]) => some.map(({ name }) => `'${name}'`).join(', ');
const isOf = (some: readonly Grain[]) => `sent.grain in (${namesOf(some)})`;

const timeOf = (name: string, other: string) => `coalesce(to_timestamp(sent.${name} / 1000.0), '${other}')`;

// Rows are locked in the order of their keys by every writer, so that two of them never wait for each other.
const upsert = `insert into usage_rollups as old (${written.join(', ')})
  select sent.organisation_id, sent.grain, to_timestamp(sent.starts_ms / 1000.0), sent.key, ${timeOf('first_ms', 'infinity')},
    ${timeOf('last_ms', '-infinity')}, ${dimensions.map((name) => `sent.${name}`).join(', ')},
    ${measureNames.map((name) => `coalesce(sent.${name}, 0)`).join(', ')},
    coalesce(sent.latency, '{}')::bigint[], coalesce(sent.retries, '{}')::bigint[]
  from unnest(${columns.map(({ type }, at) => `$${at + 1}::text::${type}[]`).join(', ')}) sent(${columns.map(({ name }) => name).join(', ')})
  where sent.grain not in (${namesOf([...dayGrains, ...quarterGrains, ...weekGrains])}) or exists (
    select from rollup_days d where d.organisation_id = sent.organisation_id
      and case when ${isOf(quarterGrains)} then d.quarters_until when ${isOf(weekGrains)} then d.weeks_until else d.days_until end > to_timestamp(sent.starts_ms / 1000.0))
  order by sent.key, sent.organisation_id, sent.grain, sent.starts_ms
  on conflict (${keys.join(', ')}) do update set ${updates.join(', ')}`;
