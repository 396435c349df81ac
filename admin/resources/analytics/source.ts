import type { Dimension } from '../../analytics/dimensions.ts';
import { dayMs, type Grain, grains, hoursAndDays, minuteMs } from '../../analytics/grains.ts';
import { recordsAsRollups, selectRecords } from '../../analytics/records-as-rollups.ts';
import { allOf, type Condition, compileFilters, type LogFilters, logFilterEntries } from '../logs/filters.ts';
import type { Range } from './range.ts';

/** The requests that a query is about. */
export interface Selection {
  readonly organisationId: string;
  readonly range: Range;
  readonly filters: LogFilters;
  /** Null: all workspaces but the hidden ones. */
  readonly workspaceId: string | null;
  /** Only requests with keys of this user; null: of everyone. */
  readonly ofUser: string | null;
}

/** A selection with the time before which the days of its organisation are summed. Later days are read as hours. */
export interface DatedSelection extends Selection {
  readonly daysUntilMs: number;
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
 * everything that the filters and `groups` name, else the records themselves. `withCounts`: the counts of latencies and retries are read.
 */
export function sourceOf(selection: DatedSelection, groups: readonly Dimension[], { withCounts = false } = {}): Condition {
  const needed = new Set([...groups, ...(selection.ofUser === null ? [] : (['user_id'] as const))]);
  let needsRecords = false;
  for (const name of Object.keys(logFilterEntries) as (keyof LogFilters)[]) {
    if (selection.filters[name] === undefined || name.startsWith('time_of_generation_')) continue;
    const names = servedByRollups[name];
    if (names) for (const one of names) needed.add(one);
    else needsRecords = true;
  }
  const pieces = needsRecords ? null : piecesFor(selection, [...needed], withCounts);
  return pieces === null ? recordsOf(selection) : rollupsIn(pieces, conditionsOf(selection));
}

/** Part of a range that one grain covers. */
interface Piece {
  readonly grain: Grain;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Null if no grain keeps these dimensions in buckets that are short enough. */
function piecesFor({ range, daysUntilMs }: DatedSelection, needed: readonly Dimension[], withCounts: boolean): Piece[] | null {
  const { fromMs, toMs, bucketMs } = range;
  const keepsAll = ({ keeps, hasCounts }: Grain) => needed.every((name) => keeps.includes(name)) && (hasCounts || !withCounts);
  if (bucketMs === minuteMs) return keepsAll(grains.minute) ? [{ grain: grains.minute, fromMs, toMs }] : null;
  const [hours, days] = hoursAndDays.find(([, coarser]) => keepsAll(coarser)) ?? [null, null];
  if (hours === null) return null;
  const firstDay = Math.ceil(fromMs / dayMs) * dayMs;
  const endOfDays = Math.floor(Math.min(toMs, daysUntilMs) / dayMs) * dayMs;
  if (bucketMs < dayMs || firstDay >= endOfDays) return [{ grain: hours, fromMs, toMs }];
  return [
    { grain: hours, fromMs, toMs: firstDay },
    { grain: days, fromMs: firstDay, toMs: endOfDays },
    { grain: hours, fromMs: endOfDays, toMs },
  ].filter((piece) => piece.fromMs < piece.toMs);
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
    text: parts.map(({ text }) => `select r.* from usage_rollups r where ${text}`).join(' union all '),
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
