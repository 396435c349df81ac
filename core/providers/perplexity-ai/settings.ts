import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `perplexity-ai`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'perplexity-ai',
  telemetryName: 'perplexity',
  priceId: 'perplexity',
  load: () => import('./index.ts'),
});
