import type { TokenExchange } from '../../cloud-auth/workload-federation.ts';

/** https://platform.claude.com/docs/en/manage-claude/wif-reference (2026-11) */
export const federation: TokenExchange = {
  url: 'https://api.anthropic.com/v1/oauth/token',
  headers: ['anthropic-beta', 'oauth-2025-04-20,oidc-federation-2026-04-01'],
  fields: {
    federation_rule_id: 'wif_federation_rule_id',
    organization_id: 'wif_organization_id',
    service_account_id: 'wif_service_account_id',
    'workspace_id?': 'wif_workspace_id',
  },
  body: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' },
  subject: 'assertion',
};
