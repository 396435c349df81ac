import { type Grain, grains, liveGrains } from '../../admin/analytics/grains.ts';
import { logGamma } from '../../admin/analytics/latency-bins.ts';
import { insertSums } from '../../admin/analytics/rebuild-rollups.ts';
import { executeBound } from '../../admin/db/execute-bound.ts';
import type { EntityManager } from '../../admin/db/open-database.ts';
import { dayMs } from '../../core/contract/values/time/durations.ts';
import { keys, models, type Tenant } from './new-batches.ts';

/** Returns an SQL expression for one of the texts. Few of them are frequent, as in practice. */
const oneOf = (texts: readonly string[]) =>
  `(array[${texts.map((text) => `'${text}'`).join(', ')}])[1 + floor(${texts.length} * power(random(), 3))::int]`;

const withoutMinutes = (some: readonly Grain[]) => some.filter((grain) => grain !== grains.minute);

/**
 * The roll-ups of random requests of one day, generated without their records: a table of 10 million records needs half an hour, and no query of the
 * benchmark reads it. Parameters: organisation, workspace, start of the day in milliseconds, number of requests, milliseconds of the day.
 */
const generate = (some: readonly Grain[]) =>
  insertSums(
    `select $1::uuid as organisation_id, $2::uuid as workspace_id, case when ok then 200 else 502 end as status, api_key_id,
     null::text as user_id, 'openai' as provider, 'openai-prod' as provider_slug, model, config_slug, end_user,
     null::text as prompt_slug, null::integer as prompt_version, at as starts_at, at as first_at, at as last_at, 1::bigint as requests,
     case when ok then 0 else 1 end::bigint as errors, floor(random() * 5000000)::bigint as cost_nano,
     floor(random() * 4000)::bigint as input_tokens, floor(random() * 800)::bigint as output_tokens, round(ms * 1000)::bigint as duration_us,
     0::bigint as cache_hits, 0::bigint as semantic_hits, 0::bigint as hit_duration_us, 0::bigint as simple_saved_nano, 0::bigint as semantic_saved_nano, 0::bigint as fallbacks,
     ceil(ln(ms) / ${logGamma})::bigint as latency, 0::bigint as retries
   from (select to_timestamp(($3::float8 + random() * $5::float8) / 1000) as at, random() > 0.02 as ok, exp(5 + 4 * random()) as ms,
       ${oneOf(keys)} as api_key_id, ${oneOf(models)} as model, 'config-' || floor(5 * power(random(), 3)) as config_slug,
       'user-' || floor(2000 * power(random(), 3)) as end_user
     from generate_series(1, $4::int) offset 0) a`,
    withoutMinutes(some),
  );

/**
 * Adds the roll-ups of the UTC day that begins at `startMs`, with `count` requests in 24 hours. Today has requests until now, and rows of hours only,
 * because it has not ended. Weeks are summed from days.
 */
export async function generateRollups(em: EntityManager, tenant: Tenant, startMs: number, count: number): Promise<void> {
  const lengthMs = Math.min(dayMs, Date.now() - startMs);
  const some = lengthMs < dayMs ? liveGrains : Object.values(grains).filter((grain) => grain.lengthMs <= dayMs);
  const requests = Math.round((count * lengthMs) / dayMs);
  await em.fork().transactional(async (tx) => {
    await tx.execute("set local work_mem = '256MB'; set local synchronous_commit = off");
    await executeBound(tx, generate(some), [tenant.organisationId, tenant.workspaceId, startMs, requests, lengthMs]);
  });
}
