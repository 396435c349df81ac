import { defineProvider } from '../../provider-settings/declaration.ts';
import { keptSettings } from '../../provider-settings/kept.ts';
import { flag } from '../../provider-settings/kinds.ts';

/** Declares the provider `mistral-ai`. */
export const declaration = defineProvider({
  id: 'mistral-ai',
  priceId: 'mistral',
  settings: {
    provider_model: keptSettings.provider_model,
    mistral_fim_completion: flag({ about: 'Answer chat calls by fill-in-the-middle.' }),
  },
  load: () => import('./index.ts'),
});
