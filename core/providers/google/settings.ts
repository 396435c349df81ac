import { defineProvider } from '../../provider-settings/declaration.ts';
import { geminiPriceName } from '../../provider-settings/price-names.ts';

/** Declares the provider `google`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'google',
  telemetryName: 'gcp.gemini',
  aliases: ['palm'],
  priceName: geminiPriceName,
  load: () => import('./index.ts'),
});
