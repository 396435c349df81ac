import { defineProvider } from '../../provider-settings/declaration.ts';
import { label } from '../../provider-settings/kinds.ts';

/** Declares the provider `fireworks-ai`. */
export const declaration = defineProvider({
  id: 'fireworks-ai',
  priceId: 'fireworks',
  settings: {
    fireworks_account_id: label({
      about: 'Account whose datasets and fine-tuning jobs are meant.',
      expected: 'the id of a Fireworks account',
      example: 'acme',
    }),
  },
  load: () => import('./index.ts'),
});
