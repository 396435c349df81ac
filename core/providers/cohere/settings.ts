import { defineProvider } from '../../provider-settings/declaration.ts';
import { keptSettings } from '../../provider-settings/stored-resources.ts';

/** Declares the provider `cohere`. */
export const declaration = defineProvider({ id: 'cohere', settings: keptSettings, load: () => import('./index.ts') });
