import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `mock`. It has no settings of its own. */
export const declaration = defineProvider({
  id: 'mock',
  key: 'optional',
  unlistedModels: ['echo'],
  load: () => import('./index.ts'),
});
