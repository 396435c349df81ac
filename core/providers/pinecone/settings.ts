import { defineProvider } from '../../provider-settings/declaration.ts';

/** Declares the provider `pinecone`. It has no settings of its own. */
export const declaration = defineProvider({ id: 'pinecone', load: () => import('./index.ts') });
