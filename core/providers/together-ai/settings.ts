import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `together-ai`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'together-ai', priceId: 'together', load: () => import('./index.ts') });
