import { defineProvider, text } from 'svc-gateway/provider';

/** Declares the provider `acme-ai`. The control plane loads this file too, so the adapter is loaded by gateways only. */
export const declaration = defineProvider({
  id: 'acme-ai',
  settings: {
    acme_ai_project: text({
      about: 'Project that is billed.',
      pattern: /^[\w-]{1,64}$/,
      expected: 'the id of a project',
      example: 'my-project',
    }),
  },
  load: () => import('./adapter.mjs'),
});
