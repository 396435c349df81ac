import { isObject, type JsonObject } from '../../../core/contract/json.ts';

/** Other spellings of the fields of a provider body, as older clients send them. */
const fields: Readonly<Record<string, string>> = {
  integrationId: 'integration_id',
  workspaceId: 'workspace_id',
  organisationId: 'organisation_id',
  aiProviderId: 'ai_provider_id',
  expiresAt: 'expires_at',
  usageLimits: 'usage_limits',
  rateLimits: 'rate_limits',
  resetUsage: 'reset_usage',
};

/** Inline credentials (control-plane reference §1, LegacyCredentials) and the integration setting each one is. */
const credentials: Readonly<Record<string, string>> = {
  awsAuthType: 'aws_auth_type',
  awsAccessKeyId: 'aws_access_key_id',
  awsSecretAccessKey: 'aws_secret_access_key',
  awsRegion: 'aws_region',
  awsRoleArn: 'aws_role_arn',
  awsExternalId: 'aws_external_id',
  vertexProjectId: 'vertex_project_id',
  vertexRegion: 'vertex_region',
  vertexAuthType: 'vertex_auth_type',
  vertexServiceAccountJson: 'vertex_service_account_json',
  azureFoundryUrl: 'azure_foundry_url',
  azureApiVersion: 'azure_api_version',
  azureDeploymentName: 'azure_deployment_name',
  azureAuthMode: 'azure_auth_mode',
  azureEntraClientId: 'azure_entra_client_id',
  azureEntraClientSecret: 'azure_entra_client_secret',
  azureEntraTenantId: 'azure_entra_tenant_id',
  azureManagedClientId: 'azure_managed_client_id',
  resourceName: 'azure_resource_name',
  huggingfaceBaseUrl: 'huggingface_base_url',
  oracleRegion: 'oracle_region',
  oracleVersion: 'oracle_api_version',
  oracleCompartmentId: 'oracle_compartment_id',
  oracleTenancy: 'oracle_tenancy',
  oraclePrivateKey: 'oracle_private_key',
  oracleFingerprint: 'oracle_fingerprint',
  oracleUser: 'oracle_user',
  workersAiAccountId: 'workers_ai_account_id',
  openaiOrganization: 'openai_organization',
  openaiProject: 'openai_project',
};

/** Names of inline credentials as they may be sent, snake_case ones included. */
export const credentialNames: readonly string[] = [
  ...Object.keys(credentials),
  ...new Set(Object.values(credentials)),
  'custom_host',
  'custom_headers',
];

/** The body with the aliases of fields resolved. A field given in both spellings stays, so that it is refused as unknown. */
export function resolveFieldAliases(body: unknown): unknown {
  if (!isObject(body)) return body;
  const out: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    const target = fields[name];
    out[target !== undefined && !Object.hasOwn(body, target) ? target : name] = value;
  }
  return out;
}

/** The inline credentials of a body as configurations of an integration. */
export function configurationsOf(body: Readonly<JsonObject>): JsonObject {
  const out: JsonObject = {};
  for (const name of credentialNames) {
    if (body[name] !== undefined && body[name] !== null) out[credentials[name] ?? name] = body[name];
  }
  return out;
}
