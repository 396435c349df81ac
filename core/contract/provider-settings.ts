/**
 * Provider-specific settings that a config target or a request header may carry (data-plane §2.2, §4.2). The header of a setting
 * is its name with `-` for `_` behind the service's prefix: `x-svc-aws-region`. Each provider's own schema checks the values.
 */
export const providerSettingKeys = [
  'anthropic_beta',
  'anthropic_version',
  'openai_organization',
  'openai_project',
  'azure_resource_name',
  'azure_deployment_id',
  'azure_api_version',
  'azure_model_name',
  'azure_auth_mode',
  'azure_managed_client_id',
  'azure_workload_client_id',
  'azure_workload_tenant_id',
  'azure_entra_tenant_id',
  'azure_entra_client_id',
  'azure_entra_scope',
  'azure_foundry_url',
  'azure_deployment_name',
  'azure_deployment_type',
  'azure_endpoint_name',
  'azure_region',
  'azure_extra_parameters',
  'aws_region',
  'aws_auth_type',
  'aws_role_arn',
  'aws_external_id',
  'vertex_project_id',
  'vertex_region',
  'vertex_auth_type',
  'fireworks_account_id',
  'huggingface_base_url',
  'workers_ai_account_id',
  'databricks_workspace',
] as const;

/** Shorter names that only a config target may use: as headers they would say too little. */
export const providerTargetKeys = ['resource_name', 'deployment_id', 'api_version'] as const;

/** The same for settings that are secrets: they travel as `Secret` from the moment they are read. */
export const providerSecretKeys = [
  'azure_ad_token',
  'azure_entra_client_secret',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'vertex_service_account_json',
] as const;
