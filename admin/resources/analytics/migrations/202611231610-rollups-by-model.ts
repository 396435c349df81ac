import { Migration } from '@mikro-orm/migrations';

/** Fills the grains of models and keys from the details that are stored. */
export class RollupsByModel extends Migration {
  override up(): void {
    for (const statement of fillGrains) this.addSql(statement);
  }
}

const dimensions = [
  ...['workspace_id', 'status', 'api_key_id', 'user_id', 'provider', 'provider_slug', 'model', 'config_slug', 'end_user'],
  ...['prompt_slug', 'prompt_version'],
];
const measures = [
  ...['requests', 'errors', 'cost_nano', 'input_tokens', 'output_tokens', 'duration_us', 'cache_hits', 'semantic_hits'],
  ...['hit_duration_us', 'fallbacks'],
];

const ofModels = ['workspace_id', 'status', 'provider', 'provider_slug', 'model'];
const ofKeys = ['workspace_id', 'status', 'api_key_id', 'user_id'];

/** Statements for tables without rows of these grains. */
export const fillGrains: readonly string[] = [
  ...['hour', 'day'].flatMap((length) => [
    fill(`${length}_detail`, `${length}_model`, ofModels),
    fill(`${length}_detail`, `${length}_key`, ofKeys),
  ]),
];

function fill(details: string, grain: string, keeps: readonly string[]): string {
  const counts = (name: string) => `coalesce((
      select array_agg((bin << 32) + number) from (
        select (packed + 2147483648) >> 32 as bin, sum(packed - (((packed + 2147483648) >> 32) << 32))::bigint as number
        from unnest(s.${name}) packed group by 1) bins where number <> 0), '{}')`;
  const values = dimensions.map((name) => (keeps.includes(name) ? `coalesce(to_json(s.${name})::text, 'null')` : `'null'`));
  return `insert into usage_rollups (organisation_id, grain, starts_at, key, ${dimensions.join(', ')}, first_at, last_at,
      ${measures.join(', ')}, latency, retries)
    select s.organisation_id, '${grain}', s.starts_at,
      encode(substr(sha256(convert_to('[' || ${values.join(` || ',' || `)} || ']', 'UTF8')), 1, 16), 'hex')::uuid,
      ${dimensions.map((name) => (keeps.includes(name) ? `s.${name}` : 'null')).join(', ')}, s.first_at, s.last_at,
      ${measures.map((name) => `s.${name}`).join(', ')}, ${counts('latency')}, ${counts('retries')}
    from (
      select organisation_id, starts_at, ${keeps.join(', ')}, min(first_at) as first_at, max(last_at) as last_at,
        ${measures.map((name) => `sum(${name})::bigint as ${name}`).join(', ')},
        string_to_array(nullif(string_agg(nullif(array_to_string(latency, ','), ''), ','), ''), ',')::bigint[] as latency,
        string_to_array(nullif(string_agg(nullif(array_to_string(retries, ','), ''), ','), ''), ',')::bigint[] as retries
      from usage_rollups where grain = '${details}' group by organisation_id, starts_at, ${keeps.join(', ')}) s`;
}
