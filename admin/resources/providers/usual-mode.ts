import type { JsonObject } from '../../../core/contract/values/json.ts';

/**
 * The settings with the way to authenticate that older clients leave out, because there was one only: told by what they do send.
 * Integrations are asked for it.
 */
export function withUsualMode(aiProviderId: string, hasKey: boolean, settings: JsonObject): JsonObject {
  const rule = rules[aiProviderId];
  if (!rule || settings[rule.setting] !== undefined) return settings;
  const mode = rule.modeOf((name) => settings[name] !== undefined, hasKey);
  return mode === null ? settings : { ...settings, [rule.setting]: mode };
}

interface Rule {
  readonly setting: string;
  modeOf(has: (name: string) => boolean, hasKey: boolean): string | null;
}

const aws: Rule = {
  setting: 'aws_auth_type',
  modeOf: (has, hasKey) =>
    has('aws_access_key_id') ? 'accessKey' : has('aws_role_arn') ? 'assumedRole' : hasKey ? 'apiKey' : null,
};
const azure: Rule = {
  setting: 'azure_auth_mode',
  modeOf: (has) => (has('azure_entra_client_secret') ? 'entra' : 'default'),
};
const vertex: Rule = {
  setting: 'vertex_auth_type',
  modeOf: (has, hasKey) => (has('vertex_service_account_json') ? 'serviceAccount' : hasKey ? 'basic' : null),
};

const rules: Readonly<Record<string, Rule>> = {
  bedrock: aws,
  sagemaker: aws,
  'azure-openai': azure,
  'azure-ai': azure,
  'vertex-ai': vertex,
};
