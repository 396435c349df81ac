import { isObject } from '../../contract/values/json/json.ts';
import { defineProvider } from '../../provider-settings/declaration.ts';
import { openRouterPriceName } from '../../provider-settings/price-names.ts';
import { statedAmount } from '../../provider-settings/provider-prices.ts';

/** Declares the provider `openrouter`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'openrouter',
  title: 'OpenRouter',
  priceName: openRouterPriceName,
  prices: {
    // https://openrouter.ai/docs/use-cases/usage-accounting. With the caller's own key at the host, `cost` is the fee of the router alone.
    statedCost: ({ cost, is_byok, cost_details: details }) => {
      const ofHost = is_byok === true ? statedAmount(isObject(details) ? details.upstream_inference_cost : null) : 0;
      return statedAmount(cost) + ofHost;
    },
  },
  load: () => import('./index.ts'),
});
