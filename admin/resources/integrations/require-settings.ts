import { AdminError } from '../../http/errors.ts';

/** Refuses an integration whose settings are not complete, or that mixes ways to authenticate. `settings` by their wire names. */
export function requireSettings(
  aiProviderId: string,
  settings: Readonly<Record<string, unknown>>,
  secrets: ReadonlySet<string>,
): void {
  const has = (name: string): boolean => secrets.has(name) || (settings[name] !== undefined && settings[name] !== null);
  const errors: string[] = [];
  for (const name of always[aiProviderId] ?? []) {
    if (!has(name)) errors.push(`${pathOf(name)}: required for ${aiProviderId}`);
  }
  for (const [by, rules] of Object.entries(byMode)) {
    const mode = settings[by];
    if (typeof mode !== 'string' || !(by === 'provider_auth_type' || (always[aiProviderId] ?? []).includes(by))) continue;
    for (const name of rules[mode]?.needs ?? []) if (!has(name)) errors.push(`${pathOf(name)}: required with ${by} ${mode}`);
    for (const name of rules[mode]?.refuses ?? []) {
      if (has(name)) errors.push(`${pathOf(name)}: not used with ${by} ${mode}`);
    }
  }
  if (settings.provider_auth_type === 'wif') errors.push(...federationFaults(aiProviderId, has));
  if (settings.is_key_required === true && !has('api_key')) errors.push('key: required with is_key_required true');
  if (errors.length > 0) throw new AdminError('AB01', errors[0] ?? '', errors);
}

function federationFaults(aiProviderId: string, has: (name: string) => boolean): string[] {
  const needed = federation[aiProviderId];
  if (!needed) return [`configurations.provider_auth_type: wif is for openai and anthropic; ${otherIdentities}`];
  return needed.filter((name) => !has(name)).map((name) => `${pathOf(name)}: required with provider_auth_type wif`);
}

const otherIdentities = 'vertex-ai has vertex_auth_type wif, azure-openai and azure-ai azure_auth_mode workload';

function pathOf(name: string): string {
  return name === 'api_key' ? 'key' : `configurations.${name}`;
}

/** Settings that a provider type cannot do without. */
const always: Readonly<Record<string, readonly string[]>> = {
  'azure-openai': ['azure_auth_mode', 'azure_resource_name', 'azure_deployment_config'],
  'azure-ai': ['azure_auth_mode', 'azure_foundry_url'],
  bedrock: ['aws_auth_type', 'aws_region'],
  sagemaker: ['aws_auth_type', 'aws_region'],
  'vertex-ai': ['vertex_auth_type', 'vertex_region'],
  'workers-ai': ['workers_ai_account_id'],
  cortex: ['snowflake_account'],
};

interface Rule {
  readonly needs?: readonly string[];
  readonly refuses?: readonly string[];
}

const oauthClient = ['oauth_token_endpoint', 'oauth_client_id', 'oauth_client_secret'] as const;

/** The settings that `provider_auth_type: wif` needs; other provider types use workload identities in other ways. */
const federation: Readonly<Record<string, readonly string[]>> = {
  openai: ['wif_identity_provider_id', 'wif_service_account_id'],
  anthropic: ['wif_federation_rule_id', 'wif_organization_id', 'wif_service_account_id'],
};

/** By the setting that names how to authenticate: what each way needs (control-plane reference §1.1). */
const byMode: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  aws_auth_type: {
    accessKey: { needs: ['aws_access_key_id', 'aws_secret_access_key'] },
    assumedRole: { needs: ['aws_role_arn'] },
    apiKey: { needs: ['api_key'] },
  },
  azure_auth_mode: {
    default: { needs: ['api_key'] },
    entra: { needs: ['azure_entra_tenant_id', 'azure_entra_client_id', 'azure_entra_client_secret'] },
    workload: { needs: ['azure_workload_tenant_id', 'azure_workload_client_id'] },
    entraFederated: {
      needs: ['azure_entra_tenant_id', 'azure_entra_client_id'],
      refuses: ['azure_entra_client_secret'],
    },
  },
  vertex_auth_type: {
    basic: { needs: ['api_key'] },
    serviceAccount: { needs: ['vertex_service_account_json'] },
  },
  provider_auth_type: {
    oauthClientCredentials: { needs: oauthClient },
    wif: { needs: oauthClient },
  },
};
