import { defineProvider } from '../../provider-settings/declaration.ts';
import { text } from '../../provider-settings/kinds.ts';

/** Declares the provider `predibase`. */
export const declaration = defineProvider({
  id: 'predibase',
  settings: {
    predibase_tenant_id: text({
      about: "Tenant of the deployments. Without it the request's `user` is the tenant.",
      pattern: /^[\w-]{1,64}$/,
      expected: 'the id of a tenant',
      example: 'a1b2c3',
    }),
  },
  load: () => import('./index.ts'),
});
