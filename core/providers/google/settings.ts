import { defineProvider } from '../../provider-settings/declaration.ts';
import { geminiPriceName } from '../../provider-settings/price-names.ts';
import { geminiTiers, searchesOfGemini } from '../../provider-settings/provider-prices.ts';

/** Declares the provider `google`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'google',
  telemetryName: 'gcp.gemini',
  aliases: ['palm'],
  priceName: geminiPriceName,
  prices: { tiers: geminiTiers, thousands: searchesOfGemini },
  load: () => import('./index.ts'),
});
