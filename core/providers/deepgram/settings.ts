import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `deepgram`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'deepgram', load: () => import('./index.ts') });
