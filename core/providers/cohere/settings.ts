import { defineProvider } from '../../provider-settings/declaration.ts';
import { storedResourceSettings } from '../../provider-settings/stored-resources.ts';

/** Declares the provider `cohere`. */
export const declaration = defineProvider({ id: 'cohere', settings: storedResourceSettings, load: () => import('./index.ts') });
