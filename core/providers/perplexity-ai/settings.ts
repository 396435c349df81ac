import { isObject } from '../../contract/values/json/json.ts';
import { defineProvider } from '../../provider-settings/declaration.ts';
import { statedAmount } from '../../provider-settings/provider-prices.ts';

/** Declares the provider `perplexity-ai`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'perplexity-ai',
  telemetryName: 'perplexity',
  priceId: 'perplexity',
  // https://docs.perplexity.ai/getting-started/pricing
  prices: { statedCost: ({ cost }) => (isObject(cost) ? statedAmount(cost.total_cost) : null) },
  load: () => import('./index.ts'),
});
