import type { RequestContext } from '../../core/contract/context.ts';
import type { Load } from './load.ts';

/** One of these children, by what is known of their load. `from` is never empty. */
export type Choose = (ctx: RequestContext, from: readonly number[]) => number;

/** Share of requests that go to another target than the fastest, so that one that has become faster is noticed. */
const explorationShare = 0.05;

/**
 * The child that has answered fastest of late. Those of which nothing recent is known come first, and now and then any other is
 * asked.
 */
export function leastLatency(loads: readonly Load[], random: () => number): Choose {
  return (ctx, from) => {
    const unknown = from.filter((child) => loadOf(loads, child).latencyMs(ctx.stream) === null);
    if (unknown.length > 0) {
      // While the first answer is awaited, the others are asked too.
      return least(unknown, (child) => loadOf(loads, child).inFlight, random);
    }
    const best = least(from, (child) => loadOf(loads, child).latencyMs(ctx.stream) as number, random);
    if (from.length === 1 || random() >= explorationShare) return best;
    return anyOf(
      from.filter((child) => child !== best),
      random,
    );
  };
}

/** The child with the fewest requests under way for its weight; any of those that are equal. */
export function leastBusy(loads: readonly Load[], weights: readonly number[], random: () => number): Choose {
  return (_ctx, from) => least(from, (child) => loadOf(loads, child).inFlight / (weights[child] as number), random);
}

/**
 * The first child that has room for one more. When all are full, the one that is fullest by the smallest measure: work is spread
 * over all of them in the end, and their own limits answer.
 */
export function priorityCapacity(
  loads: readonly Load[],
  capacities: readonly (Capacity | undefined)[],
  processes: number,
  onFull: (ctx: RequestContext, child: number) => void,
): Choose {
  // Said of a machine; each of its gateway processes takes its part.
  const part = (limit: number | undefined) =>
    limit === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(limit / processes));
  const limits = capacities.map((each) => ({ inFlight: part(each?.in_flight), perMinute: part(each?.rpm) }));
  /** 1 and more: full. */
  const fullness = (child: number): number => {
    const { inFlight, perMinute } = limits[child] as (typeof limits)[number];
    const load = loadOf(loads, child);
    const requests = perMinute === Number.POSITIVE_INFINITY ? 0 : load.requestsPerMinute();
    // The minute slides, so that there may be room for a part of a request only.
    const minuteShare = requests + 1 > perMinute ? Math.max(1, requests / perMinute) : requests / perMinute;
    return Math.max(load.inFlight / inFlight, minuteShare);
  };
  return (ctx, from) => {
    for (const child of from) {
      if (fullness(child) < 1) return child;
      onFull(ctx, child);
    }
    return least(from, fullness, () => 0);
  };
}

type Capacity = { readonly in_flight?: number | undefined; readonly rpm?: number | undefined };

function loadOf(loads: readonly Load[], child: number): Load {
  return loads[child] as Load;
}

/** Any of the children with the smallest value. */
function least(from: readonly number[], measure: (child: number) => number, random: () => number): number {
  const values = from.map(measure);
  const smallest = Math.min(...values);
  return anyOf(
    from.filter((_child, index) => values[index] === smallest),
    random,
  );
}

function anyOf(from: readonly number[], random: () => number): number {
  return from[Math.floor(random() * from.length)] as number;
}
