import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `segmind`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'segmind', load: () => import('./index.ts') });
