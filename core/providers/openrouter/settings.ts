import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `openrouter`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'openrouter', title: 'OpenRouter', load: () => import('./index.ts') });
