import type { Database } from '../db/open-database.ts';
import { cached } from './database-gauges.ts';

/** Gateway processes of one version by state. */
export interface InstanceCounts {
  readonly version: string;
  readonly healthy: number;
  readonly unhealthy: number;
}

/** Returns a function that counts gateways from their reports, at most once in five seconds. */
export function gatewayInstances(database: Database, now: () => number, staleSeconds: number): () => Promise<InstanceCounts[]> {
  return cached(
    () =>
      database.em().execute<InstanceCounts[]>(
        `select version, count(*) filter (where is_fresh)::int as healthy, count(*) filter (where not is_fresh)::int as unhealthy
         from (select version, seen_at > now() - make_interval(secs => ?) as is_fresh from deployment_instances) i
         group by version order by version`,
        [staleSeconds],
        'all',
      ),
    now,
  );
}

/** Returns the sums over all versions. */
export function sumOf(counts: readonly InstanceCounts[]): { readonly healthy: number; readonly unhealthy: number } {
  const sum = (state: 'healthy' | 'unhealthy') => counts.reduce((all, one) => all + one[state], 0);
  return { healthy: sum('healthy'), unhealthy: sum('unhealthy') };
}
