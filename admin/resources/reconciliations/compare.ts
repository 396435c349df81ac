import { grains } from '../../analytics/grains.ts';
import { daysUntilOf } from '../../analytics/sum-days.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Reconciliation } from './entity.ts';
import { addAmounts, type BilledLine } from './read-bill.ts';

/** Sums of a bill or of records. Null: the bill does not state it. */
export interface Amounts {
  readonly costNano: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** The amounts that were recorded and billed for one model on one day. */
export interface ComparedLine {
  readonly day: string;
  /** As records name it, or as the bill does if there is no record; null: all models together, or calls without a model. */
  readonly model: string | null;
  /** Names of the bill that belong to the model. */
  readonly billedAs: readonly string[];
  /** Null: the bill has no line. */
  readonly billed: Amounts | null;
  /** Null: there is no record. */
  readonly recorded: (Amounts & { readonly requests: number }) | null;
}

interface RecordedRow {
  readonly day: string;
  readonly model: string | null;
  readonly requests: number;
  readonly cost: number;
  readonly input: number;
  readonly output: number;
}

/** Returns the lines of a bill next to the records of the same UTC days, sorted by day and model. */
export async function compareBill(em: EntityManager, bill: Reconciliation): Promise<ComparedLine[]> {
  const recorded = await readRecorded(em, bill);
  const models = new Set(recorded.map(({ model }) => model));
  // A bill without models can only be compared by day.
  const isByDay = bill.lines.every(({ name }) => name === null);
  const lines = new Map<string, ComparedLine>();
  const change = (day: string, model: string | null, to: (line: ComparedLine) => Partial<ComparedLine>): void => {
    const key = JSON.stringify([day, model]);
    const line = lines.get(key) ?? { day, model, billedAs: [], billed: null, recorded: null };
    lines.set(key, { ...line, ...to(line) });
  };
  const billedNames = new Map<string, string[]>();
  const namesOf = (day: string, model: string | null): string[] => {
    const key = JSON.stringify([day, model]);
    const names = billedNames.get(key) ?? [];
    billedNames.set(key, names);
    return names;
  };
  for (const one of bill.lines) {
    const model = recordedNameOf(one.name, bill.models, models);
    change(one.day, model, ({ billed }) => ({ billed: billed ? addAll(billed, one) : one }));
    // A day has one line for each name of the bill.
    if (one.name !== null) namesOf(one.day, model).push(one.name);
  }
  for (const { day, model, requests, cost: costNano, input: inputTokens, output: outputTokens } of recorded) {
    change(day, isByDay ? null : namedAs(model, bill.models), ({ recorded: known }) => {
      const amounts = { costNano, inputTokens, outputTokens };
      return { recorded: known ? { ...addAll(known, amounts), requests: known.requests + requests } : { ...amounts, requests } };
    });
  }
  return [...lines.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, line]) => ({ ...line, billedAs: billedNames.get(key) ?? [] }));
}

/** Returns the name that the bill's `models` give a name. Several recorded models may have one, such as the profiles of a model in Bedrock. */
function namedAs(name: string | null, given: Readonly<Record<string, string>>): string | null {
  return name !== null && Object.hasOwn(given, name) ? (given[name] as string) : name;
}

/**
 * Returns the recorded model of a billed name. Bills name dated versions; a name without a record is looked up without its date, `-2024-07-18`
 * or `-20240718`.
 */
function recordedNameOf(
  name: string | null,
  given: Readonly<Record<string, string>>,
  recorded: ReadonlySet<string | null>,
): string | null {
  if (name === null || Object.hasOwn(given, name) || recorded.has(name)) return namedAs(name, given);
  const undated = name.replace(/-(\d{4}-\d{2}-\d{2}|\d{8})$/, '');
  return recorded.has(undated) ? namedAs(undated, given) : name;
}

function addAll(one: Amounts, other: Amounts): Amounts {
  return {
    costNano: addAmounts(one.costNano, other.costNano),
    inputTokens: addAmounts(one.inputTokens, other.inputTokens),
    outputTokens: addAmounts(one.outputTokens, other.outputTokens),
  };
}

/** Returns the first and the last day of a bill. */
export function daysOf(lines: readonly BilledLine[]): { readonly first: string; readonly last: string } {
  const days = lines.map(({ day }) => day).sort();
  return { first: days[0] ?? '', last: days.at(-1) ?? '' };
}

/** Roll-ups have the costs of records, also after repricing. */
function readRecorded(
  em: EntityManager,
  { organisationId, provider, providerSlugs, lines }: Reconciliation,
): Promise<RecordedRow[]> {
  const { first, last } = daysOf(lines);
  return executeBound(
    em,
    `select to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD') as day, model, sum(requests)::float8 as requests,
       sum(cost_nano)::float8 as cost, sum(input_tokens)::float8 as input, sum(output_tokens)::float8 as output
     from usage_rollups where organisation_id = $1 and starts_at >= $2 and starts_at < $3::timestamptz + interval '1 day'
       and (grain = '${grains.dayDetail.name}' and starts_at < ${daysUntilOf('$1')}
         or grain = '${grains.hourDetail.name}' and starts_at >= ${daysUntilOf('$1')})
       and ($4::text is null or provider = $4) and ($5::jsonb is null or provider_slug in (select jsonb_array_elements_text($5::jsonb)))
     group by 1, 2`,
    [
      ...[organisationId, `${first}T00:00:00Z`, `${last}T00:00:00Z`],
      ...[provider ?? null, providerSlugs ? JSON.stringify(providerSlugs) : null],
    ],
  );
}
