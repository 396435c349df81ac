/** Dimensions of `usage_rollups`, in the order of their digest, when these migrations were written. */
const dimensions = [
  ...['workspace_id', 'status', 'api_key_id', 'user_id', 'provider', 'provider_slug', 'model', 'config_slug', 'end_user'],
  ...['prompt_slug', 'prompt_version'],
];
const measures = [
  ...['requests', 'errors', 'cost_nano', 'input_tokens', 'output_tokens', 'duration_us', 'cache_hits', 'semantic_hits'],
  ...['hit_duration_us', 'fallbacks'],
];

/** A grain to be filled from the rows `r` of another one. */
export interface Filled {
  readonly from: string;
  readonly grain: string;
  /** Dimensions of the new rows. */
  readonly keeps: readonly string[];
  /** Start of the new row; default: that of the row it is filled from. */
  readonly startsAt?: string;
  /** Condition of the rows that are read; default: all. */
  readonly where?: string;
}

/** Returns a statement for a table without rows of the grain. */
export function fillGrain({ from, grain, keeps, startsAt = 'r.starts_at', where = 'true' }: Filled): string {
  const counts = (name: string) => `coalesce((
      select array_agg((bin << 32) + number) from (
        select (packed + 2147483648) >> 32 as bin, sum(packed - (((packed + 2147483648) >> 32) << 32))::bigint as number
        from unnest(s.${name}) packed group by 1) bins where number <> 0), '{}')`;
  const joined = (name: string) =>
    `string_to_array(nullif(string_agg(nullif(array_to_string(${name}, ','), ''), ','), ''), ',')::bigint[] as ${name}`;
  const values = dimensions.map((name) => (keeps.includes(name) ? `coalesce(to_json(s.${name})::text, 'null')` : `'null'`));
  return `insert into usage_rollups (organisation_id, grain, starts_at, key, ${dimensions.join(', ')}, first_at, last_at,
      ${measures.join(', ')}, latency, retries)
    select s.organisation_id, '${grain}', s.bucket,
      encode(substr(sha256(convert_to('[' || ${values.join(` || ',' || `)} || ']', 'UTF8')), 1, 16), 'hex')::uuid,
      ${dimensions.map((name) => (keeps.includes(name) ? `s.${name}` : 'null')).join(', ')}, s.first_at, s.last_at,
      ${measures.map((name) => `s.${name}`).join(', ')}, ${counts('latency')}, ${counts('retries')}
    from (
      select organisation_id, ${startsAt} as bucket, ${keeps.join(', ')},
        min(first_at) as first_at, max(last_at) as last_at, ${measures.map((name) => `sum(${name})::bigint as ${name}`).join(', ')},
        ${joined('latency')}, ${joined('retries')}
      from usage_rollups r where grain = '${from}' and ${where}
      group by organisation_id, bucket, ${keeps.join(', ')}) s`;
}
