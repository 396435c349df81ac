import { defineProvider } from '../../provider-settings/declaration.ts';
import { openRouterPriceName } from '../../provider-settings/price-names.ts';

/** Declares the provider `openrouter`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'openrouter',
  title: 'OpenRouter',
  priceName: openRouterPriceName,
  load: () => import('./index.ts'),
});
