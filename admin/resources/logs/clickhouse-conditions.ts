import type { EntityManager } from '../../db/open-database.ts';
import { invalid } from '../../http/errors.ts';
import { boundsIn, type LogFilters, providersAndModels, type RangeName } from './filters.ts';
import type { LogQuery } from './seen-logs.ts';

/** A text in the SQL of ClickHouse with its parameters. Values are never part of the text. */
export class ClickHouseText {
  readonly #conditions: string[] = [];
  readonly parameters: Record<string, unknown> = {};

  /** Adds a parameter and returns its placeholder. */
  value(type: string, value: unknown): string {
    const name = `p${Object.keys(this.parameters).length}`;
    this.parameters[name] = value;
    return `{${name}:${type}}`;
  }

  add(condition: string): void {
    this.#conditions.push(condition);
  }

  /** Returns the conditions, joined with `and`. */
  get where(): string {
    return this.#conditions.map((condition) => `(${condition})`).join(' and ');
  }
}

/** Maximum number of rated traces in a filter by feedback, which is read from the database. */
const tracesMax = 10_000;

const lists = {
  cache_status: "JSONExtractString(record, 'cacheStatus')",
  ai_model: 'model',
  virtual_keys: 'provider_slug',
  configs: 'config_slug',
  api_key_ids: 'api_key_id',
  trace_id: 'trace_id',
  span_id: 'span_id',
  prompt_slug: 'prompt_slug',
} as const;

const ranges = {
  total_units: 'input_tokens + output_tokens',
  prompt_token: 'input_tokens',
  completion_token: 'output_tokens',
  cost: 'cost',
} as const satisfies Partial<Record<RangeName, string>>;

/** Returns a time with milliseconds as a parameter. */
export function timeIn(text: ClickHouseText, time: Date | number): string {
  return `fromUnixTimestamp64Milli(${text.value('Int64', new Date(time).getTime())}, 'UTC')`;
}

/** Returns the conditions of a query. `em` is the database with workspaces and feedback. Throws AB01 for contradictory filters. */
export async function clickhouseConditions(em: EntityManager, query: LogQuery): Promise<ClickHouseText> {
  const text = new ClickHouseText();
  const { organisationId, workspaceId, hiddenWorkspaces, ofUser, id, until, filters } = query;
  text.add(`organisation_id = ${text.value('UUID', organisationId)}`);
  if (workspaceId !== null) text.add(`workspace_id = ${text.value('UUID', workspaceId)}`);
  // As in PostgreSQL, records without a workspace are left out too.
  if (hiddenWorkspaces.length > 0) text.add(`workspace_id not in ${text.value('Array(UUID)', hiddenWorkspaces)}`);
  if (ofUser !== null) text.add(`user_id = ${text.value('String', ofUser)}`);
  if (id !== undefined) text.add(`id = ${text.value('UUID', id)}`);
  if (until !== undefined) text.add(`created_at <= ${timeIn(text, until)}`);
  await addFilters(em, text, organisationId, filters);
  return text;
}

async function addFilters(em: EntityManager, text: ClickHouseText, organisationId: string, filters: LogFilters): Promise<void> {
  for (const { name, sign, bound } of boundsIn(filters)) {
    if (name === 'time_of_generation') text.add(`created_at ${sign} ${timeIn(text, bound)}`);
    else if (name !== 'weighted_feedback') text.add(`${ranges[name]} ${sign} ${text.value('Float64', bound)}`);
  }
  if (filters.weighted_feedback_min !== undefined || filters.weighted_feedback_max !== undefined) {
    const traces = await ratedTraces(em, organisationId, filters);
    text.add(`concat(toString(workspace_id), ' ', trace_id) in ${text.value('Array(String)', traces)}`);
  }
  if (filters.status_code) text.add(`status in ${text.value('Array(Int32)', filters.status_code)}`);
  for (const [name, column] of Object.entries(lists) as [keyof typeof lists, string][]) {
    const values = filters[name];
    if (values !== undefined) text.add(`${column} in ${text.value('Array(String)', values)}`);
  }
  if (filters.ai_org_model) {
    const pairs = providersAndModels(filters.ai_org_model);
    text.add(
      pairs
        .map(([provider, model]) => `provider = ${text.value('String', provider)} and model = ${text.value('String', model)}`)
        .join(' or '),
    );
  }
  for (const [key, values] of Object.entries(filters.metadata ?? {})) {
    const name = text.value('String', key);
    text.add(`mapContains(metadata, ${name}) and metadata[${name}] in ${text.value('Array(String)', values)}`);
  }
  if (filters.workspace_slug) {
    const found = await em.execute<{ id: string }[]>(
      `select id from workspaces where organisation_id = ? and slug in (${filters.workspace_slug.map(() => '?').join(', ')})`,
      [organisationId, ...filters.workspace_slug],
    );
    const ids = found.map(({ id }) => id);
    text.add(`workspace_id in ${text.value('Array(UUID)', ids)}`);
  }
}

/** Returns the traces whose weighted feedback is within the bounds, as `<workspace> <trace>`. Throws AB01 if there are too many. */
async function ratedTraces(em: EntityManager, organisationId: string, filters: LogFilters): Promise<string[]> {
  const { weighted_feedback_min: least = null, weighted_feedback_max: most = null } = filters;
  const rows = await em.execute<{ trace: string }[]>(
    `select trace from (select f.workspace_id || ' ' || f.trace_id as trace, sum(f.value * f.weight) / nullif(sum(f.weight), 0) as rating
       from feedbacks f where f.organisation_id = ? group by 1) t
     where (?::float8 is null or rating >= ?::float8) and (?::float8 is null or rating <= ?::float8) and rating is not null limit ?`,
    [organisationId, least, least, most, most, tracesMax + 1],
  );
  if (rows.length > tracesMax)
    throw invalid(`weighted_feedback_min: more than ${tracesMax} traces have such feedback. Choose a smaller range`);
  return rows.map(({ trace }) => trace);
}
