import * as v from 'valibot';
import { azureAuth, azureIdentitySettings } from '../../provider-settings/azure.ts';
import { defineProvider, type ModelAlias, type SettingDeclaration } from '../../provider-settings/declaration.ts';
import { label, text } from '../../provider-settings/kinds.ts';
import { openAiTiers, toolsOfOpenAi } from '../../provider-settings/openai-prices.ts';
import { azurePriceName } from '../../provider-settings/price-names.ts';

const deployment = { pattern: /^[\w.-]{1,128}$/, expected: 'the name of a deployment', example: 'gpt-5-mini' } as const;
const version = {
  pattern: /^(v1|preview|latest|\d{4}-\d{2}-\d{2}(-preview)?)$/,
  expected: 'v1, preview, or a date such as 2024-10-21',
  example: '2024-10-21',
} as const;
const resource = { expected: 'the name of an Azure resource', example: 'my-resource', host: 'part' } as const;

const deploymentName = text({ about: 'Name of the deployment.', ...deployment }).schema;
const apiVersion = text({ about: 'Version of the API.', ...version }).schema;
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(1_024));

/** A row of the table as integrations store it. */
export const storedRow = v.strictObject({
  azure_deployment_name: deploymentName,
  azure_api_version: apiVersion,
  azure_model_slug: name,
  alias: v.nullish(name),
  is_default: v.nullish(v.boolean()),
});

/** A row of the table in a config target. */
export const configRow = v.object({
  deployment_id: deploymentName,
  api_version: v.nullish(apiVersion),
  alias: v.nullish(name),
  is_default: v.nullish(v.boolean()),
});

/** Rows with at most one default and no two rows of the same name. */
function table(row: v.GenericSchema, nameOf: (row: Readonly<Record<string, unknown>>) => unknown): v.GenericSchema {
  return v.pipe(
    v.array(row as v.GenericSchema<Record<string, unknown>>),
    v.minLength(1, 'at least one deployment'),
    v.maxLength(500, 'at most 500 deployments'),
    v.check((rows) => rows.filter((row) => row.is_default).length <= 1, 'at most one deployment can be the default'),
    v.check((rows) => new Set(rows.map(nameOf)).size === rows.length, 'the same alias twice'),
  );
}

/** Both names of each deployment: its alias and its own. */
function deploymentAliases(rows: unknown): ModelAlias[] {
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: Record<string, unknown>) => {
    const model = String(row.azure_model_slug ?? row.azure_deployment_name);
    const names = [row.alias, row.azure_deployment_name].filter((name) => typeof name === 'string');
    return [...new Set(names)].map((alias) => ({ alias, model }));
  });
}

/** Shorter names that only config targets may use: as headers they would be ambiguous. */
const configSettings = {
  resource_name: { ...label({ about: 'Shorter name of `azure_resource_name`.', ...resource }), only: 'config' },
  deployment_id: {
    ...text({ about: 'Shorter name of `azure_deployment_id`.', ...deployment }),
    only: 'config',
    choosesModel: true,
  },
  api_version: { ...text({ about: 'Shorter name of `azure_api_version`.', ...version }), only: 'config' },
  deployments: {
    kind: 'table',
    about: 'Deployments by alias, in a config target.',
    schema: table(configRow, (row) => row.alias ?? row.deployment_id),
    example: [{ deployment_id: 'gpt-5-mini', api_version: '2024-10-21', alias: 'small' }],
    only: 'config',
    choosesModel: true,
  },
} satisfies Readonly<Record<string, SettingDeclaration>>;

/** Declares the provider `azure-openai`. */
export const declaration = defineProvider({
  id: 'azure-openai',
  telemetryName: 'azure.ai.openai',
  title: 'Azure OpenAI',
  priceId: 'azure',
  priceName: azurePriceName,
  prices: { tiers: openAiTiers, thousands: toolsOfOpenAi },
  key: 'optional',
  settings: {
    azure_resource_name: label({
      about: 'Name of the Azure resource, part of its host.',
      ...resource,
      olderName: 'resourceName',
    }),
    azure_deployment_id: text({ about: 'Deployment of models that the table does not name.', ...deployment, choosesModel: true }),
    azure_api_version: text({ about: 'Version of the API.', ...version, olderName: 'apiVersion' }),
    azure_model_name: text({
      about: 'Model behind the deployment.',
      expected: 'the name of a model',
      example: 'gpt-5-mini',
      choosesModel: true,
    }),
    azure_deployment_config: {
      kind: 'table',
      about: 'Deployments by alias.',
      schema: table(storedRow, (row) => row.alias ?? row.azure_deployment_name),
      example: [
        { azure_deployment_name: 'gpt-5-mini', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-5-mini', alias: 'small' },
      ],
      only: 'integration',
      aliases: deploymentAliases,
      olderName: 'deploymentConfig',
      olderColumns: {
        names: {
          deploymentName: 'azure_deployment_name',
          apiVersion: 'azure_api_version',
          modelSlug: 'azure_model_slug',
        },
        key: 'deploymentName',
        sameAsKey: ['modelSlug'],
      },
    },
    ...configSettings,
    ...azureIdentitySettings,
  },
  auth: [azureAuth],
  requires: [{ needs: ['azure_resource_name', 'azure_deployment_config'] }],
  load: () => import('./index.ts'),
});
