import { Migration } from '@mikro-orm/migrations';

/** The table of roll-ups, and the function that adds their packed counts. */
export class UsageRollups extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // A count is packed with its bin: bin * 2^32 + count. The bin of a packed count is that of the closest multiple of 2^32, because
  // differences can be negative.
  `create function add_packed_counts(bigint[], bigint[]) returns bigint[] language sql immutable as $$
    select coalesce(array_agg((bin << 32) + total order by bin), '{}')
    from (
      select (packed + 2147483648) >> 32 as bin, sum(packed - (((packed + 2147483648) >> 32) << 32))::bigint as total
      from unnest($1 || $2) packed group by 1
    ) bins where total <> 0
  $$`,
  // Like records, without foreign keys.
  `create table usage_rollups (
    organisation_id uuid not null,
    grain text not null,
    starts_at timestamptz not null,
    key uuid not null,
    workspace_id uuid,
    status integer,
    api_key_id text,
    user_id text,
    provider text,
    provider_slug text,
    model text,
    config_slug text,
    end_user text,
    first_at timestamptz not null,
    last_at timestamptz not null,
    requests bigint not null,
    errors bigint not null,
    cost_nano bigint not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    duration_us bigint not null,
    cache_hits bigint not null,
    semantic_hits bigint not null,
    hit_duration_us bigint not null,
    fallbacks bigint not null,
    latency bigint[] not null,
    retries bigint[] not null,
    primary key (organisation_id, grain, starts_at, key)
  ) with (fillfactor = 80)`,
];
