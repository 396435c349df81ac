import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Load } from './load.ts';

/** Returns one of these children. `from` is never empty. */
type Choose = (ctx: RequestContext, from: readonly number[]) => number;

/** The selection algorithm of a load balancer. */
export interface Algorithm {
  readonly choose: Choose;
  /** Returns the probability of each of `from`, in their order. Changes nothing. */
  shares(ctx: RequestContext, from: readonly number[]): number[];
  /** One sentence that names the criterion. */
  readonly why: string;
}

/** Share of requests that go to another target than the fastest, to detect targets that have become faster. */
const explorationShare = 0.05;

/**
 * Selects the child with the lowest recent latency. Children without a recent measurement come first, and occasionally any other
 * child is chosen.
 */
export function leastLatency(loads: readonly Load[], random: () => number): Algorithm {
  const latency = (ctx: RequestContext) => (child: number) => loadOf(loads, child).latencyMs(ctx.stream) as number;
  const inFlight = (child: number) => loadOf(loads, child).inFlight;
  const unknownOf = (ctx: RequestContext, from: readonly number[]) => from.filter((child) => latency(ctx)(child) === null);
  return {
    why: 'shortest recent time to the first byte; one request in twenty goes to another target; targets without a measurement in the last minute come first',
    choose(ctx, from) {
      const unknown = unknownOf(ctx, from);
      // Other children are called too until the first reply arrives.
      if (unknown.length > 0) return anyOf(leastOf(unknown, inFlight), random);
      const best = anyOf(leastOf(from, latency(ctx)), random);
      if (from.length === 1 || random() >= explorationShare) return best;
      return anyOf(
        from.filter((child) => child !== best),
        random,
      );
    },
    shares(ctx, from) {
      const unknown = unknownOf(ctx, from);
      if (unknown.length > 0) return equally(leastOf(unknown, inFlight), from);
      const best = equally(leastOf(from, latency(ctx)), from);
      if (from.length === 1) return best;
      return best.map((share) => share * (1 - explorationShare) + ((1 - share) * explorationShare) / (from.length - 1));
    },
  };
}

/** The child with fewest running requests relative to weight; random among equal targets. */
export function leastBusy(loads: readonly Load[], weights: readonly number[], random: () => number): Algorithm {
  const busy = (child: number) => loadOf(loads, child).inFlight / (weights[child] as number);
  return {
    why: 'fewest running requests relative to weight; random among equal targets',
    choose: (_ctx, from) => anyOf(leastOf(from, busy), random),
    shares: (_ctx, from) => equally(leastOf(from, busy), from),
  };
}

/**
 * Selects the first child that has capacity for one more request. If all are full, the one that exceeds its capacity least.
 * Requests are then spread over all children, whose own limits reply.
 */
export function priorityCapacity(
  loads: readonly Load[],
  capacities: readonly (Capacity | undefined)[],
  processes: number,
  onFull: (ctx: RequestContext, child: number) => void,
): Algorithm {
  // A capacity applies to a machine. Each of its gateway processes has an equal part.
  const part = (limit: number | undefined) =>
    limit === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(limit / processes));
  const limits = capacities.map((each) => ({ inFlight: part(each?.in_flight), perMinute: part(each?.rpm) }));
  /** 1 or more: full. */
  const fullness = (child: number): number => {
    const { inFlight, perMinute } = limits[child] as (typeof limits)[number];
    const load = loadOf(loads, child);
    const requests = perMinute === Number.POSITIVE_INFINITY ? 0 : load.requestsPerMinute();
    // The window slides, so capacity may be available for a fraction of a request.
    const minuteShare = requests + 1 > perMinute ? Math.max(1, requests / perMinute) : requests / perMinute;
    return Math.max(load.inFlight / inFlight, minuteShare);
  };
  const fullest = (from: readonly number[]) => leastOf(from, fullness)[0] as number;
  return {
    why: 'first target below its capacity; if all are full, the one with the smallest excess',
    choose(ctx, from) {
      for (const child of from) {
        if (fullness(child) < 1) return child;
        onFull(ctx, child);
      }
      return fullest(from);
    },
    shares(_ctx, from) {
      const chosen = from.find((child) => fullness(child) < 1) ?? fullest(from);
      return from.map((child) => (child === chosen ? 1 : 0));
    },
  };
}

type Capacity = { readonly in_flight?: number | undefined; readonly rpm?: number | undefined };

function loadOf(loads: readonly Load[], child: number): Load {
  return loads[child] as Load;
}

/** Returns the children with the smallest value. */
function leastOf(from: readonly number[], measure: (child: number) => number): number[] {
  const values = from.map(measure);
  const smallest = Math.min(...values);
  return from.filter((_child, index) => values[index] === smallest);
}

/** Returns the probability of each of `from` if those of `chosen` have equal parts. */
function equally(chosen: readonly number[], from: readonly number[]): number[] {
  return from.map((child) => (chosen.includes(child) ? 1 / chosen.length : 0));
}

function anyOf(from: readonly number[], random: () => number): number {
  return from[Math.floor(random() * from.length)] as number;
}
