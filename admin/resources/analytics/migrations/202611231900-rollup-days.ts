import { Migration } from '@mikro-orm/migrations';

/**
 * Roll-ups of days are written when a day has ended. Until now each record was added to them, so those of ended days are complete. Grains that
 * are new are filled for these days.
 */
export class RollupDays extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
    for (const statement of fillDays) this.addSql(statement);
  }
}

const today = `date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;

const statements = [
  `create table rollup_days (
    organisation_id uuid primary key,
    days_until timestamptz not null
  )`,
  `insert into rollup_days select id, ${today} from organisations`,
  `delete from usage_rollups where grain in ('day_model', 'day_key', 'day_detail', 'day_user') and starts_at >= ${today}`,
];

const dimensions = [
  ...['workspace_id', 'status', 'api_key_id', 'user_id', 'provider', 'provider_slug', 'model', 'config_slug', 'end_user'],
  ...['prompt_slug', 'prompt_version'],
];
const measures = [
  ...['requests', 'errors', 'cost_nano', 'input_tokens', 'output_tokens', 'duration_us', 'cache_hits', 'semantic_hits'],
  ...['hit_duration_us', 'fallbacks'],
];

/** Statements for tables without rows of these grains. */
export const fillDays: readonly string[] = [
  fill('hour', 'day', ['workspace_id', 'status']),
  fill('day_detail', 'day_key_model', ['workspace_id', 'status', 'api_key_id', 'user_id', 'provider', 'provider_slug', 'model']),
];

function fill(from: string, grain: string, keeps: readonly string[]): string {
  const counts = (name: string) => `coalesce((
      select array_agg((bin << 32) + number) from (
        select (packed + 2147483648) >> 32 as bin, sum(packed - (((packed + 2147483648) >> 32) << 32))::bigint as number
        from unnest(s.${name}) packed group by 1) bins where number <> 0), '{}')`;
  const joined = (name: string) =>
    `string_to_array(nullif(string_agg(nullif(array_to_string(${name}, ','), ''), ','), ''), ',')::bigint[] as ${name}`;
  const values = dimensions.map((name) => (keeps.includes(name) ? `coalesce(to_json(s.${name})::text, 'null')` : `'null'`));
  return `insert into usage_rollups (organisation_id, grain, starts_at, key, ${dimensions.join(', ')}, first_at, last_at,
      ${measures.join(', ')}, latency, retries)
    select s.organisation_id, '${grain}', s.day,
      encode(substr(sha256(convert_to('[' || ${values.join(` || ',' || `)} || ']', 'UTF8')), 1, 16), 'hex')::uuid,
      ${dimensions.map((name) => (keeps.includes(name) ? `s.${name}` : 'null')).join(', ')}, s.first_at, s.last_at,
      ${measures.map((name) => `s.${name}`).join(', ')}, ${counts('latency')}, ${counts('retries')}
    from (
      select organisation_id, date_trunc('day', starts_at at time zone 'UTC') at time zone 'UTC' as day, ${keeps.join(', ')},
        min(first_at) as first_at, max(last_at) as last_at, ${measures.map((name) => `sum(${name})::bigint as ${name}`).join(', ')},
        ${joined('latency')}, ${joined('retries')}
      from usage_rollups r where grain = '${from}'
        and starts_at < (select days_until from rollup_days d where d.organisation_id = r.organisation_id)
      group by organisation_id, day, ${keeps.join(', ')}) s`;
}
