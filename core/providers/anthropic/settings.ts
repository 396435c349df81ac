import { awsAuth, awsRequires, awsSettings } from '../../provider-settings/aws.ts';
import { defineProvider, type SettingDeclaration } from '../../provider-settings/declaration.ts';
import { flag, headerValue, text } from '../../provider-settings/kinds.ts';
import { federatedAuth, federationId } from '../../provider-settings/shared-settings.ts';
import { storedResourceSettings } from '../../provider-settings/stored-resources.ts';

const anthropicSettings = {
  ...storedResourceSettings,
  anthropic_version: headerValue({ about: 'Version of the API, a date.', example: '2023-06-01', inline: true }),
  anthropic_beta: headerValue({ about: 'Comma list of beta features.', example: 'context-1m-2025-08-07', inline: true }),
} satisfies Readonly<Record<string, SettingDeclaration>>;

/** Declares the provider `anthropic`. */
export const declaration = defineProvider({
  id: 'anthropic',
  prices: {
    // https://platform.claude.com/docs/en/build-with-claude/fast-mode
    tiers: (model) => ({ fast: /opus-4-[67]/.test(model) ? 6 : 2 }),
    // The geography in which a call ran: https://platform.claude.com/docs/en/manage-claude/data-residency
    usageFactor: ({ inference_geo: geo }) => (geo === 'us' ? 1.1 : 1),
  },
  settings: {
    ...anthropicSettings,
    anthropic_inspect_stream_for_overloaded_error: flag({ about: 'Stored without effect.', only: 'integration', unused: true }),
    wif_federation_rule_id: federationId('Federation rule that tokens are exchanged under.', 'fdrl_01'),
    wif_organization_id: federationId('Organization of the federation rule.', 'org_01'),
    wif_service_account_id: federationId('Service account that calls are made as.', 'svac_01'),
    wif_workspace_id: federationId('Workspace that calls are made in.', 'wrkspc_01'),
  },
  auth: [federatedAuth(['wif_federation_rule_id', 'wif_organization_id', 'wif_service_account_id'])],
  load: () => import('./index.ts'),
});

/** Declares the provider `claude-platform-aws`: Anthropic's API at an address of AWS. */
export const claudePlatformAws = defineProvider({
  id: 'claude-platform-aws',
  key: 'optional',
  settings: {
    ...awsSettings,
    ...anthropicSettings,
    anthropic_aws_workspace_id: text({
      about: 'Workspace that every call names.',
      pattern: /^[\w-]{1,128}$/,
      expected: 'the id of a workspace',
      example: 'wrkspc_01',
      pinned: 'always',
    }),
  },
  auth: [awsAuth],
  requires: awsRequires,
  load: () => import('./index.ts'),
});
