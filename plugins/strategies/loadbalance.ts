import { createHash } from 'node:crypto';
import type { GatewayConfig } from '../../core/contract/plugin/config/gateway-config.ts';
import type { LoadExplanation } from '../../core/contract/plugin/config/route-explanation.ts';
import type { StrategyConfig } from '../../core/contract/plugin/config/strategy-config.ts';
import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import type { Clock } from '../../core/contract/plugin/plugin.ts';
import type { Candidates } from './candidates.ts';
import { certainly, type Decision } from './explain.ts';
import { jsonHead } from './json-head.ts';
import { type Algorithm, leastBusy, leastLatency, priorityCapacity } from './least.ts';
import { Load } from './load.ts';
import { type Node, pickOne, type Range } from './node.ts';
import { readField } from './read-field.ts';
import type { Watches } from './watch.ts';

const stickyTtlSecondsDefault = 300;

export interface BalanceOptions {
  readonly strategy: StrategyConfig;
  readonly children: readonly Node[];
  readonly range: Range;
  /** Weights by child. A child with weight 0 is never chosen. */
  readonly weights: readonly number[];
  readonly capacities: readonly GatewayConfig['capacity'][];
  /** Returns the children to consider now. Null: always all of them. */
  readonly candidates: ((ctx: RequestContext) => Candidates) | null;
  readonly watches: Watches;
  readonly services: CoreServices;
}

/**
 * Calls one target per request. The algorithm chooses among the targets with a closed circuit that are not in cooldown, if there
 * are any. There is no next target after a failure. Only if the provider of the chosen target does not exist, it chooses again.
 */
export function loadbalance(options: BalanceOptions): Node {
  const { children, range, weights, candidates, strategy } = options;
  const eligible = eligibleOf(weights);
  const loads: Load[] = [];
  const algorithm = algorithmOf(options, loads);

  function pick(ctx: RequestContext): number {
    if (candidates === null) return algorithm.choose(ctx, eligible);
    const { good, cooling } = candidates(ctx);
    return algorithm.choose(ctx, good.length > 0 ? good : cooling);
  }

  function pickAgain(ctx: RequestContext, tried: ReadonlySet<number>): number | null {
    const { good, cooling } = candidates?.(ctx) ?? { good: eligible, cooling: [] };
    for (const all of [good, cooling]) {
      const rest = all.filter((child) => !tried.has(child));
      if (rest.length > 0) return algorithm.choose(ctx, rest);
    }
    return null;
  }

  function explain(ctx: RequestContext): Decision {
    const found = candidates?.(ctx) ?? { good: eligible, cooling: [] };
    const from = found.good.length > 0 ? found.good : found.cooling;
    const first = certainly(null, children);
    for (const [position, share] of algorithm.shares(ctx, from).entries()) first[from[position] as number] = share;
    return {
      mode: 'loadbalance',
      why: algorithm.why,
      first,
      cooling: candidates === null ? undefined : found.cooling,
      more: { algorithm: strategy.algorithm ?? 'weighted', ...(strategy.sticky?.enabled ? { sticky: true } : undefined) },
      ofBranch: (child) => ({ weight: weights[child] as number, ...loadOf(loads[child], ctx) }),
    };
  }

  return pickOne(children, range, pick, explain, pickAgain);
}

function loadOf(load: Load | undefined, ctx: RequestContext): { load?: LoadExplanation } {
  if (load === undefined) return {};
  const { inFlight } = load;
  return { load: { inFlight, requestsPerMinute: load.requestsPerMinute(), latencyMs: load.latencyMs(ctx.stream) } };
}

/** Returns the children that may be chosen. */
export function eligibleOf(weights: readonly number[]): number[] {
  return weights.flatMap((weight, index) => (weight > 0 ? [index] : []));
}

/** Fills `loads` if the algorithm counts requests. */
function algorithmOf({ strategy, children, weights, capacities, watches, services }: BalanceOptions, loads: Load[]): Algorithm {
  const { algorithm = 'weighted', sticky } = strategy;
  const { clock, circuits, random } = services;
  switch (algorithm) {
    case 'weighted':
      return sticky?.enabled ? byIdentity(sticky, weights, clock) : byWeight(weights, random);
    case 'round_robin':
      return inTurn(weights);
    case 'least_latency':
      return leastLatency(counted(), random);
    case 'least_busy':
      return leastBusy(counted(), weights, random);
    case 'priority_capacity': {
      const onFull = (ctx: RequestContext, child: number) => ctx.decide((children[child] as Node).path, 'at_capacity');
      return priorityCapacity(counted(), capacities, circuits.processes, onFull);
    }
  }

  function counted(): readonly Load[] {
    for (const _child of children) loads.push(new Load(clock));
    watches.addChildren(children, (child) => (loads[child] as Load).watch);
    return loads;
  }
}

function byWeight(weights: readonly number[], random: () => number): Algorithm {
  return {
    why: 'random by weight',
    choose: (_ctx, from) => atShare(weights, from, random()),
    shares: (_ctx, from) => sharesOf(weights, from),
  };
}

/**
 * Keeps requests of one identity on one target for `ttl` seconds. The choice is computed from the identity, so all processes and
 * machines make the same one without communication.
 */
function byIdentity(sticky: NonNullable<StrategyConfig['sticky']>, weights: readonly number[], clock: Clock): Algorithm {
  const ttlMs = (sticky.ttl ?? stickyTtlSecondsDefault) * 1000;
  const choose = (ctx: RequestContext, from: readonly number[]): number => {
    const { share, offsetMs } = identityOf(ctx, sticky.hash_fields ?? []);
    // The start of a period depends on the identity, so that not all identities move at the same time.
    const period = Math.floor((clock.now() + (offsetMs % ttlMs)) / ttlMs);
    return atShare(weights, from, mix(share, period));
  };
  return {
    why: `sticky: chosen by the identity of the caller for ${ttlMs / 1000} s`,
    choose,
    shares(ctx, from) {
      const chosen = choose(ctx, from);
      return from.map((child) => (child === chosen ? 1 : 0));
    },
  };
}

function inTurn(weights: readonly number[]): Algorithm {
  const order = roundRobinOrder(weights);
  let turn = 0;
  return {
    why: 'round robin by weight',
    choose(_ctx, from) {
      for (let skipped = 0; skipped < order.length; skipped++) {
        const child = order[turn++ % order.length] as number;
        if (from.includes(child)) return child;
      }
      return from[0] as number;
    },
    // The turn of a future request cannot be predicted, because each process counts its own.
    shares: (_ctx, from) => sharesOf(weights, from),
  };
}

function sharesOf(weights: readonly number[], from: readonly number[]): number[] {
  const total = from.reduce((sum, child) => sum + (weights[child] as number), 0);
  return from.map((child) => (weights[child] as number) / total);
}

/** Returns the child whose slice of the sum of weights holds `share` of it, 0 ≤ share < 1. */
function atShare(weights: readonly number[], from: readonly number[], share: number): number {
  let total = 0;
  for (const child of from) total += weights[child] as number;
  let rest = share * total;
  for (const child of from) {
    rest -= weights[child] as number;
    if (rest < 0) return child;
  }
  return from.at(-1) as number;
}

/**
 * Smooth weighted order (as in nginx): each target occurs in proportion to its weight, spread over the round. Weights are scaled
 * to rounds of at most a thousand turns.
 */
export function roundRobinOrder(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const smallest = Math.min(...weights.filter((weight) => weight > 0));
  const scale = Math.min(1 / smallest, 1000 / total);
  const turns = weights.map((weight) => (weight === 0 ? 0 : Math.max(1, Math.round(weight * scale))));
  const length = turns.reduce((sum, turn) => sum + turn, 0);
  const credit = turns.map(() => 0);
  const order: number[] = [];
  while (order.length < length) {
    let best = 0;
    for (const [index, turn] of turns.entries()) {
      credit[index] = (credit[index] as number) + turn;
      if ((credit[index] as number) > (credit[best] as number)) best = index;
    }
    credit[best] = (credit[best] as number) - length;
    order.push(best);
  }
  return order;
}

/** Characters of a value that make up the identity. Each node of a strategy has up to 16 fields, and each may name the whole prompt. */
const hashedCharsMax = 65_536;

/** Returns the caller as two numbers: from the API key, and from the hash fields that are present. */
function identityOf(ctx: RequestContext, fields: readonly string[]): { share: number; offsetMs: number } {
  const digest = createHash('sha256').update(ctx.identity?.keyId ?? '');
  for (const field of fields) {
    const value = readField(ctx, field);
    if (value !== undefined) digest.update(`|${field}:${jsonHead(value, hashedCharsMax)}`);
  }
  const bytes = digest.digest();
  return { share: bytes.readUInt32BE(0), offsetMs: bytes.readUInt32BE(4) };
}

/** Returns a number in [0, 1) that is the same for the same identity and period. */
function mix(share: number, period: number): number {
  return createHash('sha256').update(`${share}:${period}`).digest().readUInt32BE(0) / 2 ** 32;
}
