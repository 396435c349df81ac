import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `groq`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'groq', load: () => import('./index.ts') });
