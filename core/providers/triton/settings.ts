import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `triton`. It has no address of its own. */
export const declaration = defineProvider({
  id: 'triton',
  key: 'optional',
  requires: [{ needs: ['custom_host'] }],
  load: () => import('./index.ts'),
});
