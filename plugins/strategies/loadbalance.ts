import { createHash } from 'node:crypto';
import type { RequestContext } from '../../core/contract/context.ts';
import type { GatewayConfig } from '../../core/contract/gateway-config.ts';
import type { Services } from '../../core/contract/plugin.ts';
import { type Node, pickOne, type Range } from './node.ts';
import { readField } from './read-field.ts';

type Strategy = NonNullable<GatewayConfig['strategy']>;

const stickyTtlSecondsDefault = 300;

/**
 * One target per request, by weight. Weight 0 is never chosen. `sticky` keeps requests of one identity on one target for `ttl`
 * seconds: the choice is computed from the identity, so every process and every machine comes to the same one without asking.
 */
export function loadbalance(
  children: readonly Node[],
  range: Range,
  strategy: Strategy,
  weights: readonly number[],
  services: Services,
): Node {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const { sticky } = strategy;
  if (sticky?.enabled) {
    const ttlMs = (sticky.ttl ?? stickyTtlSecondsDefault) * 1000;
    return pickOne(children, range, (ctx) => {
      const { share, offsetMs } = identityOf(ctx, sticky.hash_fields ?? []);
      // Identities change over at different times, so that not all of them move at once.
      const period = Math.floor((services.clock.now() + (offsetMs % ttlMs)) / ttlMs);
      return atShare(weights, total * mix(share, period));
    });
  }
  if (strategy.algorithm === 'round_robin') {
    const order = roundRobinOrder(weights);
    let turn = 0;
    return pickOne(children, range, () => order[turn++ % order.length] as number);
  }
  return pickOne(children, range, () => atShare(weights, services.random() * total));
}

/** Index of the target whose slice of [0, total) holds `at`; never one of weight 0. */
function atShare(weights: readonly number[], at: number): number {
  let rest = at;
  let last = 0;
  for (const [index, weight] of weights.entries()) {
    if (weight === 0) continue;
    last = index;
    rest -= weight;
    if (rest < 0) return index;
  }
  return last;
}

/**
 * Smooth weighted order (as nginx has it): each target comes as often as its weight says, spread out over the round. Weights
 * are scaled to rounds of at most a thousand turns.
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

/** Who is asking, as two numbers: the API key, and the hash fields that are there. */
function identityOf(ctx: RequestContext, fields: readonly string[]): { share: number; offsetMs: number } {
  const digest = createHash('sha256').update(ctx.identity?.keyId ?? '');
  for (const field of fields) {
    const value = readField(ctx, field);
    if (value !== undefined) digest.update(`|${field}:${typeof value === 'string' ? value : JSON.stringify(value)}`);
  }
  const bytes = digest.digest();
  return { share: bytes.readUInt32BE(0), offsetMs: bytes.readUInt32BE(4) };
}

/** A number in [0, 1) that is the same for the same identity and period. */
function mix(share: number, period: number): number {
  return createHash('sha256').update(`${share}:${period}`).digest().readUInt32BE(0) / 2 ** 32;
}
