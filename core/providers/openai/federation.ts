import type { TokenExchange } from '../../cloud-auth/workload-federation.ts';

/** https://developers.openai.com/api/reference/workload-identity-federation (2026-11) */
export const federation: TokenExchange = {
  url: 'https://auth.openai.com/oauth/token',
  headers: [],
  fields: { identity_provider_id: 'wif_identity_provider_id', service_account_id: 'wif_service_account_id' },
  body: {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  },
  subject: 'subject_token',
};
