import { minuteMs } from '../../../core/contract/values/time/durations.ts';
import type { Dimension } from '../../analytics/dimensions.ts';
import { daysAndWeeks, type Grain, grains, hoursAndDays, hoursAndQuarters } from '../../analytics/grains.ts';
import { recordsAsRollups, selectRecords } from '../../analytics/records-as-rollups.ts';
import type { SummedUntil } from '../../analytics/sum-days.ts';
import { allOf, type Condition, compileFilters, type LogFilters, logFilterEntries } from '../logs/filters.ts';
import type { Range } from './range.ts';

/** The requests that a query is about. */
export interface Selection {
  readonly organisationId: string;
  readonly range: Range;
  readonly filters: LogFilters;
  /** Null: all workspaces but the hidden ones. */
  readonly workspaceId: string | null;
  /** User whose keys' requests count; null: all users. */
  readonly ofUser: string | null;
}

/** A selection with the times before which days, quarters of days and weeks of its organisation are summed. Later ones are read as hours or days. */
export interface DatedSelection extends Selection {
  readonly summedUntil: SummedUntil;
}

interface SourceOptions {
  /** The counts of latencies and retries are read. */
  readonly withCounts?: boolean;
  /** Rows are assigned to the buckets of the range, so they may not be longer. */
  readonly inBuckets?: boolean;
}

/** Filters that roll-ups can apply, with the dimensions that they need. */
const servedByRollups: Readonly<Partial<Record<keyof LogFilters, readonly Dimension[]>>> = {
  status_code: ['status'],
  ai_model: ['model'],
  ai_org_model: ['provider', 'model'],
  virtual_keys: ['provider_slug'],
  configs: ['config_slug'],
  api_key_ids: ['api_key_id'],
  workspace_slug: ['workspace_id'],
  prompt_slug: ['prompt_slug'],
};

/**
 * Returns a subquery with one row per roll-up or request, in the columns of `usage_rollups`. It reads roll-ups if one grain keeps
 * everything that the filters and `groups` name, else the records themselves.
 */
export function sourceOf(selection: DatedSelection, groups: readonly Dimension[], options: SourceOptions = {}): Source {
  const needed = new Set([...groups, ...(selection.ofUser === null ? [] : (['user_id'] as const))]);
  let needsRecords = false;
  for (const name of Object.keys(logFilterEntries) as (keyof LogFilters)[]) {
    if (selection.filters[name] === undefined || name.startsWith('time_of_generation_')) continue;
    const names = servedByRollups[name];
    if (names) for (const one of names) needed.add(one);
    else needsRecords = true;
  }
  const pieces = needsRecords ? null : piecesFor(selection, [...needed], options);
  if (pieces === null) return { ...recordsOf(selection), isRollups: false };
  return { ...rollupsIn(pieces, conditionsOf(selection)), isRollups: true };
}

/** A subquery. Rows of roll-ups have their position in the table as `ctid`. */
export interface Source extends Condition {
  readonly isRollups: boolean;
}

/** Part of a range that one grain covers. */
interface Piece {
  readonly grain: Grain;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Null if no grain keeps these dimensions in buckets that are short enough. */
function piecesFor(
  { range, summedUntil }: DatedSelection,
  needed: readonly Dimension[],
  { withCounts = false, inBuckets = true }: SourceOptions,
): Piece[] | null {
  const { fromMs, toMs, bucketMs } = range;
  const keepsAll = ({ keeps, hasCounts }: Grain) => needed.every((name) => keeps.includes(name)) && (hasCounts || !withCounts);
  if (bucketMs === minuteMs) return keepsAll(grains.minute) ? [{ grain: grains.minute, fromMs, toMs }] : null;
  const [hours, days] = hoursAndDays.find(([, coarser]) => keepsAll(coarser)) ?? [null, null];
  if (hours === null) return null;
  const quarters = hoursAndQuarters.find(([of, coarser]) => of === hours && keepsAll(coarser))?.[1];
  const weeks = daysAndWeeks.find(([of]) => of === days)?.[1];
  const longer = [
    ...(weeks ? [{ grain: weeks, fromMs: summedUntil.weeksFromMs, untilMs: summedUntil.weeksMs }] : []),
    { grain: days, untilMs: summedUntil.daysMs },
    ...(quarters ? [{ grain: quarters, untilMs: summedUntil.quartersMs }] : []),
  ];
  return cover({ fromMs, toMs }, hours, inBuckets ? longer.filter(({ grain }) => grain.lengthMs <= bucketMs) : longer);
}

/** A grain whose rows are complete before a time, and from another one. */
interface Summed {
  readonly grain: Grain;
  readonly fromMs?: number;
  readonly untilMs: number;
}

/** Covers a range with the rows of the first grain, and what it leaves at the ends with the following, at last with hours. */
function cover({ fromMs, toMs }: Omit<Piece, 'grain'>, hours: Grain, [first, ...others]: readonly Summed[]): Piece[] {
  if (fromMs >= toMs) return [];
  if (!first) return [{ grain: hours, fromMs, toMs }];
  const { grain, fromMs: completeMs = 0, untilMs } = first;
  const startMs = Math.ceil(Math.max(fromMs, completeMs) / grain.lengthMs) * grain.lengthMs;
  const endMs = Math.floor(Math.min(toMs, untilMs) / grain.lengthMs) * grain.lengthMs;
  if (startMs >= endMs) return cover({ fromMs, toMs }, hours, others);
  return [
    ...cover({ fromMs, toMs: startMs }, hours, others),
    { grain, fromMs: startMs, toMs: endMs },
    ...cover({ fromMs: endMs, toMs }, hours, others),
  ];
}

/** Returns the records that pass the filters, at any time, and whether there are any filters apart from tenant and time. */
export function recordConditions(selection: Selection): { readonly conditions: Condition; readonly isFiltered: boolean } {
  const conditions = conditionsOf(selection);
  const { text, values } = allOf(conditions);
  const tenant = selection.workspaceId === null ? 1 : 2;
  return { conditions: { text: `${selectRecords} where ${text}`, values }, isFiltered: conditions.length > tenant };
}

function conditionsOf({ organisationId, filters, workspaceId, ofUser }: Selection): Condition[] {
  const { time_of_generation_min: _, time_of_generation_max: __, ...others } = filters;
  return [
    { text: 'r.organisation_id = ?', values: [organisationId] },
    ...(workspaceId === null ? [] : [{ text: 'r.workspace_id = ?', values: [workspaceId] }]),
    ...(ofUser === null ? [] : [{ text: 'r.user_id = ?', values: [ofUser] }]),
    ...compileFilters(others, organisationId, { prompt_slug: 'r.prompt_slug' }),
  ];
}

function rollupsIn(pieces: readonly Piece[], conditions: readonly Condition[]): Condition {
  const parts = pieces.map(({ grain, fromMs, toMs }) =>
    allOf([
      { text: 'r.grain = ? and r.starts_at >= ? and r.starts_at < ?', values: [grain.name, new Date(fromMs), new Date(toMs)] },
      ...conditions,
    ]),
  );
  return {
    text: parts.map(({ text }) => `select r.*, r.ctid from usage_rollups r where ${text}`).join(' union all '),
    values: parts.flatMap(({ values }) => values),
  };
}

/** Returns the subquery on the records themselves, each as a roll-up of one request. */
export function recordsOf(selection: Selection): Condition {
  const { fromMs, toMs } = selection.range;
  const { text, values } = allOf([
    { text: 'r.created_at >= ? and r.created_at < ?', values: [new Date(fromMs), new Date(toMs)] },
    ...conditionsOf(selection),
  ]);
  return { text: recordsAsRollups(text), values };
}
