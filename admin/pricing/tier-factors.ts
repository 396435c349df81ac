import { pricesOf } from '../../core/providers/declarations.ts';
import type { Rates } from './units.ts';

/** Returns the service tiers in which tokens of a model have another price than the usual one. */
export function pricedTiers(provider: string, model: string): string[] {
  return Object.keys(pricesOf(provider).tiers?.(model) ?? {});
}

/**
 * Returns the factor of a service tier on the usual price of tokens, which the public list lacks. It is 1 for tiers that are bought in advance and
 * have no price per token: `scale` of OpenAI, `priority` of Anthropic, `reserved` of Bedrock.
 */
export function tierFactor(provider: string, model: string, tier: string | null): number {
  // Most records state no tier or this one, and are not compared with each line.
  if (tier === null || tier === 'default') return 1;
  const factors = pricesOf(provider).tiers?.(model) ?? {};
  return Object.hasOwn(factors, tier) ? (factors[tier] ?? 1) : 1;
}

/** Returns rates with other prices of tokens. Those of searches and requests stay: they are the same in all tiers. */
export function ratesTimes(rates: Rates, factor: number): Rates {
  if (factor === 1) return rates;
  const { cache_write_1h: longWrite, ...units } = rates.units;
  return {
    ...rates,
    tokens: Object.fromEntries(Object.entries(rates.tokens).map(([unit, price]) => [unit, price * factor])),
    units: longWrite === undefined ? units : { ...units, cache_write_1h: longWrite * factor },
  };
}
