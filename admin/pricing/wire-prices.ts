import { findProvider } from '@pydantic/genai-prices';
import { priceIdOf } from '../../core/providers/declarations.ts';
import { publicRates } from './rates.ts';
import type { Rates } from './units.ts';

/** Factor from micro-USD to cents. */
const centsOf = (microUsd: number): { price: number } => ({ price: Number((microUsd / 10_000).toPrecision(12)) });

/** Returns public prices of a model in the form of the reference's pricing files: cents per unit. Null if there are none. */
export function wirePrices(provider: string, model: string, now: Date) {
  const rates = publicRates(provider, model, 0, now);
  return rates && toWire(rates);
}

function toWire({ tokens, units, perRequest }: Rates) {
  const prices = Object.fromEntries(Object.entries(tokens).map(([unit, price]) => [unit, centsOf(price)]));
  const others = Object.fromEntries(Object.entries(units).map(([unit, price]) => [unit, centsOf(price)]));
  return {
    pay_as_you_go: {
      ...prices,
      ...(Object.keys(others).length > 0 ? { additional_units: others } : {}),
      ...(perRequest > 0 ? { fixed_cost: centsOf(perRequest) } : {}),
    },
    currency: 'USD' as const,
  };
}

/** Returns the data of a model in the price list other than its prices. */
export function wireGeneral(provider: string, model: string) {
  const found = listed(provider).find(({ id }) => id === model);
  if (!found) return null;
  return {
    model: found.id,
    name: found.name ?? found.id,
    description: found.description ?? null,
    context_window: found.context_window ?? null,
    deprecated: found.deprecated ?? false,
  };
}

/** Returns the names of all models of a provider in the price list. */
export function listedModels(provider: string): string[] {
  return listed(provider).map(({ id }) => id);
}

function listed(provider: string) {
  return findProvider({ providerId: priceIdOf(provider) })?.models ?? [];
}
