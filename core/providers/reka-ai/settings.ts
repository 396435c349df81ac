import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `reka-ai`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'reka-ai', load: () => import('./index.ts') });
