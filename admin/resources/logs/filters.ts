import * as v from 'valibot';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { invalid } from '../../http/errors.ts';
import { parseStrictJson } from '../../http/request/parse-strict-json.ts';
import { queryTime } from '../../http/request/schemas.ts';

/** Maximum number of values in one list. */
const valuesMax = 100;
/** Maximum number of values of all metadata keys. The count of 10,000 took PostgreSQL 0.15 s to plan and the control plane 0.1 s to write. */
const metadataValuesMax = 1_000;

/** Absent, null and empty text mean: no filter. Lists and queries send the same values as text. */
function filter<Value>(type: 'string' | 'number', message: string, read: (sent: unknown) => Value | undefined) {
  return v.optional(
    v.pipe(
      v.unknown(),
      v.metadata({ jsonSchema: { type } }),
      v.rawTransform(({ dataset, addIssue, NEVER }) => {
        const sent = dataset.value;
        if (sent === undefined || sent === null || sent === '') return undefined;
        const value = read(sent);
        if (value !== undefined) return value;
        addIssue({ message });
        return NEVER;
      }),
    ),
  );
}

const time = v.optional(queryTime);
const amount = filter('number', 'a number from 0 is expected', (sent) => numberFrom(sent, 0));
const feedback = filter('number', 'a number from −10 to 10 is expected', (sent) => numberFrom(sent, -10, 10));
const list = filter('string', `a list of at most ${valuesMax} values, separated by commas, is expected`, listFrom);
/** Clients choose trace ids, so a comma may also be part of one. */
const traceIds = filter('string', `a list of at most ${valuesMax} ids, separated by commas, is expected`, (sent) => {
  const ids = listFrom(sent);
  return ids && typeof sent === 'string' && ids.length > 1 ? [...ids, sent] : ids;
});
const statuses = filter('string', 'a list of status codes, separated by commas, is expected', (sent) => {
  const codes = listFrom(sent)?.map(Number);
  return codes?.every((code) => Number.isInteger(code) && code >= 100 && code <= 599) ? codes : undefined;
});
const modelsOfProviders = filter('string', 'a list such as openai__gpt-4o,anthropic__claude is expected', (sent) => {
  const names = listFrom(sent);
  return names?.every((name) => /.__./.test(name)) ? names : undefined;
});
const cacheStatusNames = ['HIT', 'SEMANTIC HIT', 'MISS', 'SEMANTIC MISS', 'REFRESH'];
const cacheStatuses = filter('string', `a list of ${cacheStatusNames.join(', ')}, separated by commas, is expected`, (sent) => {
  const names = listFrom(sent)?.map((name) => name.toUpperCase().replaceAll('_', ' '));
  return names?.every((name) => cacheStatusNames.includes(name)) ? names : undefined;
});
const metadata = filter(
  'string',
  `a JSON object of texts such as {"team":"a"} is expected, with at most ${metadataValuesMax} texts`,
  metadataFrom,
);

/** Filters of logs, exports and analytics, for queries and for bodies. Numbers may be text, lists may be arrays. */
export const logFilterEntries = {
  time_of_generation_min: time,
  time_of_generation_max: time,
  total_units_min: amount,
  total_units_max: amount,
  /** US cents. */
  cost_min: amount,
  cost_max: amount,
  prompt_token_min: amount,
  prompt_token_max: amount,
  completion_token_min: amount,
  completion_token_max: amount,
  weighted_feedback_min: feedback,
  weighted_feedback_max: feedback,
  status_code: statuses,
  cache_status: cacheStatuses,
  ai_model: list,
  ai_org_model: modelsOfProviders,
  virtual_keys: list,
  configs: list,
  api_key_ids: list,
  trace_id: traceIds,
  span_id: list,
  prompt_slug: list,
  workspace_slug: list,
  metadata,
};

const logFilters = v.object(logFilterEntries);
export type LogFilters = v.InferOutput<typeof logFilters>;

/** A condition on `request_records r`. Values replace the `?` of the text, in order. */
export interface Condition {
  readonly text: string;
  readonly values: readonly unknown[];
}

const inputTokens = ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens'].map(tokens).join(' + ');

/** Expression of each `<name>_min` and `<name>_max`. */
const ranges = {
  time_of_generation: 'r.created_at',
  total_units: `(${inputTokens} + ${tokens('outputTokens')})`,
  prompt_token: `(${inputTokens})`,
  completion_token: tokens('outputTokens'),
  cost: '(r.cost_micro_usd * 1000 + r.cost_nano_rest)',
  weighted_feedback: `(select sum(f.value * f.weight) / nullif(sum(f.weight), 0) from feedbacks f
     where f.organisation_id = r.organisation_id and f.workspace_id = r.workspace_id and f.trace_id = r.trace_id)`,
} as const;

/** Expression of each list. */
const lists = {
  status_code: 'r.status',
  cache_status: "r.record->>'cacheStatus'",
  ai_model: 'r.model',
  virtual_keys: 'r.provider_slug',
  configs: 'r.config_slug',
  api_key_ids: 'r.api_key_id',
  trace_id: 'r.trace_id',
  span_id: "r.record->>'spanId'",
  prompt_slug: "r.record->>'promptSlug'",
} as const;

const nanoUsdPerCent = 10_000_000;

/**
 * Compiles filters to conditions that must all hold. `columns` replaces expressions by columns of another table. Throws AB01 for a maximum
 * below its minimum.
 */
export function compileFilters(
  filters: LogFilters,
  organisationId: string,
  columns: Partial<Record<keyof typeof lists, string>> = {},
): Condition[] {
  const conditions: Condition[] = [];
  for (const { name, sign, bound } of boundsIn(filters)) {
    conditions.push({ text: `${ranges[name]} ${sign} ?`, values: [bound] });
  }
  for (const [name, expression] of Object.entries({ ...lists, ...columns }) as [keyof typeof lists, string][]) {
    const values = filters[name];
    if (values !== undefined) conditions.push({ text: `${expression} in (${marks(values)})`, values });
  }
  if (filters.ai_org_model) {
    const pairs = providersAndModels(filters.ai_org_model);
    conditions.push({ text: `(r.provider, r.model) in (${pairs.map(() => '(?, ?)').join(', ')})`, values: pairs.flat() });
  }
  for (const [key, values] of Object.entries(filters.metadata ?? {})) {
    conditions.push({ text: `r.record->'metadata'->>?::text in (${marks(values)})`, values: [key, ...values] });
  }
  if (filters.workspace_slug) {
    conditions.push({
      text: `r.workspace_id in (select id from workspaces where organisation_id = ? and slug in (${marks(filters.workspace_slug)}))`,
      values: [organisationId, ...filters.workspace_slug],
    });
  }
  return conditions;
}

/** Joins conditions with `and`. */
export function allOf(conditions: readonly Condition[]): Condition {
  return {
    text: conditions.map(({ text }) => text).join(' and '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** Splits `openai__gpt-4o` into the provider and the model. */
export function providersAndModels(names: readonly string[]): string[][] {
  return names.map((name) => /^(.+?)__(.+)$/.exec(name)?.slice(1) ?? []);
}

export type RangeName = keyof typeof ranges;

/** One bound of a range of values. */
interface Bound {
  readonly name: RangeName;
  readonly sign: '>=' | '<=';
  /** Costs are in nano-USD. */
  readonly bound: number | Date;
}

/** Returns the bounds that filters set. Throws AB01 for a maximum below its minimum. */
export function boundsIn(filters: LogFilters): Bound[] {
  return (Object.keys(ranges) as RangeName[]).flatMap((name) => {
    const [least, most] = [filters[`${name}_min`], filters[`${name}_max`]];
    if (least !== undefined && most !== undefined && most < least) {
      throw invalid(`${name}_max: must not be less than ${name}_min`);
    }
    const to = (bound: number | Date) =>
      name === 'cost' && typeof bound === 'number' ? Math.round(bound * nanoUsdPerCent) : bound;
    return [
      ...(least === undefined ? [] : [{ name, sign: '>=', bound: to(least) } as const]),
      ...(most === undefined ? [] : [{ name, sign: '<=', bound: to(most) } as const]),
    ];
  });
}

function tokens(field: string): string {
  return `(r.record->>'${field}')::float8`;
}

function marks(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

function numberFrom(sent: unknown, least: number, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = typeof sent === 'string' && /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(sent) ? Number(sent) : sent;
  return typeof value === 'number' && value >= least && value <= most ? value : undefined;
}

/** Returns the values of `a,b` or `['a', 'b']`; undefined for anything else. */
function listFrom(sent: unknown): string[] | undefined {
  const parts: unknown[] = Array.isArray(sent) ? sent : typeof sent === 'string' ? sent.split(',') : [sent];
  const values = parts.map((part) => (typeof part === 'number' ? String(part) : part));
  if (values.length === 0 || values.length > valuesMax || !values.every(isShortText)) return undefined;
  const named = values.map((value) => value.trim()).filter((value) => value !== '');
  return named.length === 0 ? undefined : named;
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 255 && !/\p{Cc}/u.test(value);
}

/** Returns the accepted values of each key. */
function metadataFrom(sent: unknown): Record<string, string[]> | undefined {
  const value = typeof sent === 'string' ? parsed(sent) : sent;
  if (!isObject(value) || Object.keys(value).length > valuesMax) return undefined;
  const entries = Object.entries(value).map(([key, wanted]) => [key, valuesFrom(wanted)] as const);
  if (!entries.every(([key, wanted]) => isShortText(key) && wanted !== undefined)) return undefined;
  if (entries.reduce((count, [, wanted]) => count + (wanted?.length ?? 0), 0) > metadataValuesMax) return undefined;
  return Object.fromEntries(entries) as Record<string, string[]>;
}

function valuesFrom(wanted: unknown): string[] | undefined {
  const values = (Array.isArray(wanted) ? wanted : [wanted]).map((one) => (isScalar(one) ? String(one) : one));
  return values.length > 0 && values.length <= valuesMax && values.every(isShortText) ? values : undefined;
}

function isScalar(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'boolean';
}

function parsed(text: string): unknown {
  try {
    return parseStrictJson(text, 'metadata');
  } catch {
    return undefined;
  }
}
