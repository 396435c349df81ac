import { defineProvider } from '../../provider-settings/declaration.ts';
import { statedAmount } from '../../provider-settings/provider-prices.ts';

const ticksPerUsd = 1e10;

/** Declares the provider `x-ai`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'x-ai',
  telemetryName: 'x_ai',
  title: 'xAI',
  aliases: ['xai'],
  // https://docs.x.ai/developers/cost-tracking
  prices: { statedCost: ({ cost_in_usd_ticks: ticks }) => statedAmount(ticks) / ticksPerUsd },
  load: () => import('./index.ts'),
});
