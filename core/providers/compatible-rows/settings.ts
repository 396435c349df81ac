import { defineProvider } from '../../provider-settings/declaration.ts';
import { rows } from './rows.ts';

/** Declares the providers that are rows. */
export const declarations = rows.map(({ id, title, aliases, priceId, key, settings, auth, requires }) =>
  defineProvider({
    id,
    ...(title && { title }),
    ...(aliases && { aliases }),
    ...(priceId && { priceId }),
    ...(key && { key }),
    ...(settings && { settings }),
    ...(auth && { auth }),
    ...(requires && { requires }),
    load: () => import('./index.ts'),
  }),
);
