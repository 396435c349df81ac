import { isObject, type JsonObject } from '../../../core/contract/values/json.ts';
import { storedSettingNames } from '../../../core/providers/declarations.ts';
import { invalid } from '../../http/errors.ts';

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
  secretMappings: 'secret_mappings',
  // Older names in the form of a client that writes every field of a body in snake case.
  api_version: 'apiVersion',
  resource_name: 'resourceName',
  deployment_name: 'deploymentName',
  deployment_config: 'deploymentConfig',
  oracle_version: 'oracleVersion',
  ai_model_id: 'aiModelId',
};

/** The same for the fields of a budget. */
const limitFields: Readonly<Record<string, string>> = {
  creditLimit: 'credit_limit',
  alertThreshold: 'alert_threshold',
  periodicReset: 'periodic_reset',
  periodicResetDays: 'periodic_reset_days',
  nextUsageResetAt: 'next_usage_reset_at',
};

/** The same for fields of a mapping. */
const mappingFields: Readonly<Record<string, string>> = {
  targetField: 'target_field',
  secretReferenceId: 'secret_reference_id',
  secretKey: 'secret_key',
  valueFormat: 'value_format',
};

/** Older names of settings that do not follow from the newer ones. */
const olderNames: Readonly<Record<string, string>> = {
  resourceName: 'azure_resource_name',
  oracleVersion: 'oracle_api_version',
  customHeaders: 'custom_headers',
};

/** Inline credentials in camel case, with the corresponding integration setting. */
const credentials: Readonly<Record<string, string>> = {
  ...olderNames,
  ...Object.fromEntries(
    storedSettingNames.map((name) => [camelOf(name), name]).filter(([name]) => !((name as string) in olderNames)),
  ),
};

/** Names of inline credentials as they may be sent, snake_case ones included. */
export const credentialNames: readonly string[] = [
  'deploymentConfig',
  ...Object.keys(credentials),
  ...new Set(Object.values(credentials)),
  'apiVersion',
  'deploymentName',
];

function camelOf(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the body with the aliases of fields resolved. A field given in both spellings stays, so that it is rejected as unknown.
 */
export function resolveFieldAliases(body: unknown): unknown {
  const out = renamed(body, fields);
  if (!isObject(out)) return out;
  if (isObject(out.usage_limits)) out.usage_limits = renamed(out.usage_limits, limitFields);
  if (Array.isArray(out.secret_mappings)) out.secret_mappings = out.secret_mappings.map(mappingWithAliases);
  // A single rate limit may be sent without a list around it.
  if (isObject(out.rate_limits)) out.rate_limits = [out.rate_limits];
  return out;
}

function mappingWithAliases(sent: unknown): unknown {
  const out = renamed(sent, mappingFields);
  if (!isObject(out) || typeof out.target_field !== 'string') return out;
  const target = out.target_field.replace(/^model_config\.(.+)$/, (_, name: string) => `model_config.${settingOf(name)}`);
  return { ...out, target_field: target };
}

function renamed(body: unknown, names: Readonly<Record<string, string>>): unknown {
  if (!isObject(body)) return body;
  const out: JsonObject = {};
  for (const [name, value] of Object.entries(body)) {
    const target = Object.hasOwn(names, name) ? names[name] : undefined;
    out[target !== undefined && !Object.hasOwn(body, target) ? target : name] = value;
  }
  return out;
}

/** Names that older clients use for Azure deployments. `deploymentName` is a part of a deployment and is handled separately. */
const deployments: Readonly<Record<string, string>> = {
  deploymentConfig: 'azure_deployment_config',
  apiVersion: 'azure_api_version',
};

/** Returns the integration setting for an inline credential. */
export function settingOf(name: string): string {
  return deployments[name] ?? credentials[name] ?? name;
}

/** Returns the inline credentials of a body as configurations of an integration. */
export function configurationsOf(body: Readonly<JsonObject>): JsonObject {
  const out: JsonObject = {};
  for (const name of credentialNames) {
    if (body[name] !== undefined && body[name] !== null) out[credentials[name] ?? name] = body[name];
  }
  return withDeployments(out);
}

/** Converts deployments of Azure with older names: one by its name and version, or a list with aliases. */
function withDeployments({ apiVersion, deploymentName, deploymentConfig, ...rest }: JsonObject): JsonObject {
  if (deploymentConfig !== undefined) {
    if (!Array.isArray(deploymentConfig)) throw invalid('deploymentConfig: a list is expected');
    const rows = deploymentConfig.map((row, index) => {
      if (!isObject(row)) throw invalid(`deploymentConfig[${index}]: an object is expected`);
      const { apiVersion: version, deploymentName: name, modelSlug, ...more } = row;
      return { azure_deployment_name: name, azure_api_version: version, azure_model_slug: modelSlug ?? name, ...more };
    });
    return { ...rest, azure_deployment_config: rows };
  }
  if (deploymentName === undefined) return apiVersion === undefined ? rest : { ...rest, azure_api_version: apiVersion };
  const row = { azure_deployment_name: deploymentName, azure_api_version: apiVersion, azure_model_slug: deploymentName };
  return { ...rest, azure_deployment_config: [row] };
}
