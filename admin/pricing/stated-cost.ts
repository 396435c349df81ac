import type { RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { costMax, roundedNano } from './nano-usd.ts';

/**
 * Returns the cost that the provider states for a call, in whole nano-USD. It includes what the usage does not count: tools that ran at the provider,
 * fees of a request, the host that a router chose. Null: the provider states none.
 */
export function statedNanoUsd({ provider, rawUsage }: Pick<RequestRecord, 'provider' | 'rawUsage'>): number | null {
  const nanoUsd = rawUsage && (provider === null ? undefined : readers.get(provider)?.(rawUsage));
  return typeof nanoUsd === 'number' && nanoUsd >= 0 ? Math.min(roundedNano(nanoUsd), costMax) : null;
}

const nanoPerUsd = 1e9;
const ticksPerNano = 10;

const readers = new Map<string, (usage: JsonObject) => number | null>([
  // https://openrouter.ai/docs/use-cases/usage-accounting. With the caller's own key at the host, `cost` is the fee of the router alone.
  [
    'openrouter',
    ({ cost, is_byok, cost_details: details }) => {
      const ofHost = is_byok === true ? amount(isObject(details) ? details.upstream_inference_cost : null) : 0;
      return usd(amount(cost) + ofHost);
    },
  ],
  // https://docs.perplexity.ai/getting-started/pricing
  ['perplexity-ai', ({ cost }) => (isObject(cost) ? usd(amount(cost.total_cost)) : null)],
  // https://docs.x.ai/developers/cost-tracking
  ['x-ai', ({ cost_in_usd_ticks: ticks }) => amount(ticks) / ticksPerNano],
]);

function usd(dollars: number): number {
  return dollars * nanoPerUsd;
}

/** NaN for values that are no amount of money. */
function amount(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : Number.NaN;
}
