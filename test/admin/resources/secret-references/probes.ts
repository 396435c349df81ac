import type { Probe } from '../../support/refusal-suites.ts';

/** A valid reference, with a token that no reply may contain. */
export const vaultReference = {
  name: 'Vault',
  manager_type: 'hashicorp_vault',
  auth_config: {
    vault_auth_type: 'token',
    vault_addr: 'https://vault.example.com',
    vault_token: 'hvs.planted-0123456789abcdef',
  },
  secret_path: 'secret/data/openai',
};

/** Every route of one reference, and of the list. */
export function probes(idOrSlug: string): readonly Probe[] {
  return [
    { method: 'GET', path: '/secret-references' },
    { method: 'POST', path: '/secret-references', body: vaultReference },
    ...itemProbes(idOrSlug),
  ];
}

export function itemProbes(idOrSlug: string): readonly Probe[] {
  const path = `/secret-references/${idOrSlug}`;
  return [
    { method: 'GET', path },
    { method: 'PUT', path, body: { name: 'Stolen' } },
    { method: 'DELETE', path },
  ];
}
