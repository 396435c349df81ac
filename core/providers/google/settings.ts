import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `google`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'google', aliases: ['palm'], load: () => import('./index.ts') });
