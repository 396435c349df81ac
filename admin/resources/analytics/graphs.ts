import type * as v from 'valibot';
import { quantilesOf } from '../../analytics/latency-bins.ts';
import { feedbackGraphs, type GraphSource } from './feedback-graphs.ts';
import { bucketsOf } from './range.ts';
import { none, type Totals, totalOf } from './read-usage.ts';
import type { GraphName, graphReplies } from './schema.ts';
import type { Selection } from './source.ts';
import type { UsageStore } from './usage-store.ts';

export type GraphBody<Name extends GraphName> = Omit<v.InferOutput<(typeof graphReplies)[Name]>, 'object'>;
type Graphs = { readonly [Name in GraphName]: (source: GraphSource, selection: Selection) => Promise<GraphBody<Name>> };

export const nanoPerCent = 10_000_000;
export const centsOf = ({ cost_nano }: Totals): number => cost_nano / nanoPerCent;
export const tokensOf = ({ input_tokens, output_tokens }: Totals): number => input_tokens + output_tokens;
/** Returns 0 for 0 / 0. */
export const ratio = (part: number, of: number): number => (of === 0 ? 0 : part / of);
const percent = (part: number, of: number): number => 100 * ratio(part, of);
const latencyOf = ({ duration_us, requests }: Totals): number => ratio(duration_us, requests) / 1000;

/** Every graph, by its path below `/analytics/graphs/`. */
export const graphs: Graphs = {
  requests: sumsOf(({ requests }) => ({ total: requests })),
  cost: sumsOf((sums) => ({ total: centsOf(sums), avg: ratio(centsOf(sums), sums.requests) })),
  tokens: sumsOf((sums) => ({ total: tokensOf(sums), avg: ratio(tokensOf(sums), sums.requests) })),
  errors: sumsOf(({ errors }) => ({ total: errors })),
  'errors/rate': sumsOf(({ errors, requests }) => ({ rate: percent(errors, requests) })),
  ...feedbackGraphs,

  async latency({ store }, selection) {
    const [sums, bins] = [await store.buckets(selection), await store.bins(selection, 'latency')];
    const figures = (of: Totals, counts: Parameters<typeof quantilesOf>[0]) => {
      const [p50 = 0, p90 = 0, p99 = 0] = quantilesOf(counts, [0.5, 0.9, 0.99]);
      return { avg: latencyOf(of), p50, p90, p99 };
    };
    return {
      summary: figures(totalOf(sums.values()), [...bins.values()].flat()),
      data_points: pointsOf(selection, (at) => figures(sums.get(at) ?? none, bins.get(at) ?? [])),
    };
  },

  async users({ store }, selection) {
    const { unique, buckets } = await store.users(selection);
    return {
      summary: { total: unique },
      data_points: pointsOf(selection, (at) => ({ total: buckets.get(at)?.users ?? 0 })),
    };
  },

  async 'users/requests'({ store }, selection) {
    const { unique, requests, buckets } = await store.users(selection);
    const averageAt = (at: number) => ratio(buckets.get(at)?.requests ?? 0, buckets.get(at)?.users ?? 0);
    return {
      summary: { total: requests, unique, avg: ratio(requests, unique) },
      data_points: pointsOf(selection, (at) => ({ avg: averageAt(at) })),
    };
  },

  async 'errors/stacks'({ store }, selection) {
    const rows = await errorsByStatus(store, selection);
    const stats = (at: number) =>
      rows.filter((row) => row.bucket === at).map(({ value, errors }) => ({ response_status_code: value, count: errors }));
    return {
      summary: { total: rows.reduce((sum, { errors }) => sum + errors, 0) },
      data_points: pointsOf(selection, (at) => ({ stats: stats(at) })),
    };
  },

  async 'errors/status-codes'({ store }, selection) {
    const counts = new Map<number, number>();
    for (const { value, errors } of await errorsByStatus(store, selection)) counts.set(value, (counts.get(value) ?? 0) + errors);
    const points = [...counts].map(([status_code, count]) => ({ status_code, count }));
    return {
      summary: { total_errors: points.reduce((sum, { count }) => sum + count, 0), unique_error_codes: points.length },
      data_points: points.sort((left, right) => right.count - left.count || left.status_code - right.status_code),
    };
  },

  async 'requests/rescued'({ store }, selection) {
    const [sums, bins] = [await store.buckets(selection), await store.bins(selection, 'retries')];
    const retriesAt = (at: number) =>
      (bins.get(at) ?? []).filter(({ count }) => count > 0).sort((left, right) => left.bin - right.bin);
    const retried = [...bins.values()].flat().reduce((sum, { count }) => sum + count, 0);
    return {
      summary: { retry: retried, fallback: totalOf(sums.values()).fallbacks },
      data_points: pointsOf(selection, (at) => ({
        retry: retriesAt(at).map(({ bin, count }) => ({ retry_success_count: bin, count })),
        fallback: sums.get(at)?.fallbacks ?? 0,
      })),
    };
  },

  async 'cache/hit-rate'({ store }, selection) {
    const sums = await store.buckets(selection);
    const all = totalOf(sums.values());
    let [simpleNano, semanticNano] = [0, 0];
    return {
      summary: { total: all.cache_hits, rate: percent(all.cache_hits, all.requests) },
      data_points: pointsOf(selection, (at) => {
        const one = sums.get(at) ?? none;
        simpleNano += one.simple_saved_nano;
        semanticNano += one.semantic_saved_nano;
        return {
          simple_hits: one.cache_hits - one.semantic_hits,
          semantic_hits: one.semantic_hits,
          rate: percent(one.cache_hits, one.requests),
          cumulative_simple_cache_savings: simpleNano / nanoPerCent,
          cumulative_semantic_cache_savings: semanticNano / nanoPerCent,
        };
      }),
    };
  },

  'cache/latency': async ({ store }, selection) => {
    const sums = await store.buckets(selection);
    return { summary: {}, data_points: pointsOf(selection, (at) => ({ avg: hitLatencyOf(sums.get(at) ?? none) })) };
  },
};

/** Returns figures of cached replies. `cache_speedup`: the average latency of other requests divided by that of cached ones. */
export async function cacheSummary(store: UsageStore, selection: Selection) {
  const sums = totalOf((await store.buckets(selection)).values());
  const missLatency = ratio(sums.duration_us - sums.hit_duration_us, sums.requests - sums.cache_hits) / 1000;
  return {
    hits: sums.cache_hits,
    avg_latency: hitLatencyOf(sums),
    total_requests: sums.requests,
    cache_speedup: ratio(missLatency, hitLatencyOf(sums)),
  };
}

const hitLatencyOf = ({ hit_duration_us, cache_hits }: Totals): number => ratio(hit_duration_us, cache_hits) / 1000;

/** A graph whose summary and points are the same figures. */
function sumsOf<Figures extends object>(figures: (sums: Totals) => Figures) {
  return async ({ store }: GraphSource, selection: Selection) => {
    const sums = await store.buckets(selection);
    return {
      summary: figures(totalOf(sums.values())),
      data_points: pointsOf(selection, (at) => figures(sums.get(at) ?? none)),
    };
  };
}

/** One point for every bucket, also for those without requests. */
function pointsOf<Figures extends object>(
  { range }: Selection,
  figuresAt: (bucketMs: number) => Figures,
): (Figures & { timestamp: string })[] {
  return bucketsOf(range).map((at) => ({ timestamp: new Date(at).toISOString(), ...figuresAt(at) }));
}

async function errorsByStatus(store: UsageStore, selection: Selection) {
  const rows = await store.bucketsBy<number>(selection, 'status');
  return rows.filter(({ errors }) => errors > 0).sort((left, right) => left.value - right.value);
}
