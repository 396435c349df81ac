import * as v from 'valibot';
import { azureIdentitySettings } from '../../cloud-auth/azure-identity.ts';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { responsesApiSetting } from '../../formats/openai/responses-only.ts';

/** One row of the alias table, from either of its spellings. */
export interface Deployment {
  readonly name: string;
  readonly apiVersion: string | null;
  readonly alias: string | null;
  /** The model behind it, as the catalogue spells it. */
  readonly model: string | null;
  readonly isDefault: boolean;
}

/** Part of a host name, so nothing but a plain label will do. */
const resourceName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/, 'the name of an Azure resource'),
);
const deploymentName = v.pipe(v.string(), v.regex(/^[\w.-]{1,128}$/, 'the name of a deployment'));
const apiVersion = v.pipe(
  v.string(),
  v.regex(/^(v1|preview|latest|\d{4}-\d{2}-\d{2}(-preview)?)$/, 'v1, preview, or a date such as 2024-10-21'),
);
const name = v.pipe(v.string(), v.minLength(1));

/** A row as integrations store it. */
const storedRow = v.pipe(
  v.object({
    azure_deployment_name: deploymentName,
    azure_api_version: v.nullish(apiVersion),
    azure_model_slug: v.nullish(name),
    alias: v.nullish(name),
    is_default: v.nullish(v.boolean()),
  }),
  v.transform(
    (row): Deployment => ({
      name: row.azure_deployment_name,
      apiVersion: row.azure_api_version ?? null,
      alias: row.alias ?? null,
      model: row.azure_model_slug ?? null,
      isDefault: row.is_default ?? false,
    }),
  ),
);

/** A row as a config target has it. */
const configRow = v.pipe(
  v.object({
    deployment_id: deploymentName,
    api_version: v.nullish(apiVersion),
    alias: v.nullish(name),
    is_default: v.nullish(v.boolean()),
  }),
  v.transform(
    (row): Deployment => ({
      name: row.deployment_id,
      apiVersion: row.api_version ?? null,
      alias: row.alias ?? null,
      model: null,
      isDefault: row.is_default ?? false,
    }),
  ),
);

/** Settings of `azure-openai`. What has two names comes out under the longer one, the alias table as `deployments`. */
export const settings = v.pipe(
  v.object({
    custom_host: v.optional(v.string()),
    azure_resource_name: v.nullish(resourceName),
    resource_name: v.nullish(resourceName),
    azure_deployment_id: v.nullish(deploymentName),
    deployment_id: v.nullish(deploymentName),
    azure_api_version: v.nullish(apiVersion),
    api_version: v.nullish(apiVersion),
    azure_model_name: v.nullish(name),
    azure_deployment_config: v.nullish(v.array(storedRow)),
    deployments: v.nullish(v.array(configRow)),
    ...responsesApiSetting,
    ...azureIdentitySettings,
  }),
  v.transform(({ resource_name, deployment_id, api_version, azure_deployment_config, deployments, ...rest }) =>
    withoutNulls({
      ...rest,
      azure_resource_name: rest.azure_resource_name ?? resource_name,
      azure_deployment_id: rest.azure_deployment_id ?? deployment_id,
      azure_api_version: rest.azure_api_version ?? api_version,
      deployments: deployments ?? azure_deployment_config,
    }),
  ),
) as unknown as v.GenericSchema<unknown, ProviderSettings>;

function withoutNulls(settings: ProviderSettings): ProviderSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null && value !== undefined));
}
