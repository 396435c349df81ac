import type { InferOutput } from 'valibot';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import type { configRow, storedRow } from './settings.ts';

/** One row of the deployment table, from either of its spellings. */
export interface Deployment {
  readonly name: string;
  readonly apiVersion: string | null;
  readonly alias: string | null;
  /** The model behind it, as the catalogue spells it. */
  readonly model: string | null;
  readonly isDefault: boolean;
}

/** Returns settings under their longer names, with the table of either spelling as `deployments`. The longer name wins. */
export function mergeNames(given: ProviderSettings): ProviderSettings {
  const { resource_name, deployment_id, api_version, azure_deployment_config, deployments, ...rest } = given;
  const merged: Record<string, unknown> = {
    azure_resource_name: rest.azure_resource_name ?? resource_name,
    azure_deployment_id: rest.azure_deployment_id ?? deployment_id,
    azure_api_version: rest.azure_api_version ?? api_version,
    deployments: deployments
      ? (deployments as ConfigRow[]).map(fromConfig)
      : (azure_deployment_config as StoredRow[] | undefined)?.map(fromStore),
  };
  return { ...rest, ...Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)) };
}

type StoredRow = InferOutput<typeof storedRow>;
type ConfigRow = InferOutput<typeof configRow>;

function fromStore(row: StoredRow): Deployment {
  return {
    name: String(row.azure_deployment_name),
    apiVersion: String(row.azure_api_version),
    alias: row.alias ?? null,
    model: row.azure_model_slug,
    isDefault: row.is_default ?? false,
  };
}

function fromConfig(row: ConfigRow): Deployment {
  return {
    name: String(row.deployment_id),
    apiVersion: (row.api_version as string | null | undefined) ?? null,
    alias: row.alias ?? null,
    model: null,
    isDefault: row.is_default ?? false,
  };
}
