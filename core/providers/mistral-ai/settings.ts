import { defineProvider } from '../../provider-settings/declaration.ts';
import { flag } from '../../provider-settings/kinds.ts';
import { storedResourceSettings } from '../../provider-settings/stored-resources.ts';

/** Declares the provider `mistral-ai`. */
export const declaration = defineProvider({
  id: 'mistral-ai',
  telemetryName: 'mistral_ai',
  priceId: 'mistral',
  settings: {
    provider_model: storedResourceSettings.provider_model,
    mistral_fim_completion: flag({ about: 'Serve chat calls by fill-in-the-middle.' }),
  },
  load: () => import('./index.ts'),
});
