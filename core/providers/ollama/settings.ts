import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `ollama`. It has no address of its own. */
export const declaration = defineProvider({
  id: 'ollama',
  key: 'optional',
  requires: [{ needs: ['custom_host'] }],
  load: () => import('./index.ts'),
});
