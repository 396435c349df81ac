import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `deepseek`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'deepseek', load: () => import('./index.ts') });
