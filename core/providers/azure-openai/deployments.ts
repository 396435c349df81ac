import type { OperationCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { textOrNull } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import type { Deployment } from './merge-names.ts';

/** Destination of one call: a deployment, and the API version. */
export interface DeploymentAddress {
  readonly deployment: string;
  /** `v1`, `preview` and `latest` mean the version-free API. Any other value is a date. */
  readonly apiVersion: string;
  /** The model behind the deployment, if the alias table names it. */
  readonly model?: string | null;
}

/**
 * Returns the deployment of a model: the one that the settings name, else the row of the alias table whose alias, model or name
 * matches, else the table's default. Without a table the model is the deployment. Throws `bad_request` if nothing matches.
 */
export function deploymentOf(settings: ProviderSettings, model: string): DeploymentAddress {
  const table = (settings.deployments ?? []) as readonly Deployment[];
  const version = textOrNull(settings.azure_api_version);
  const named = textOrNull(settings.azure_deployment_id);
  const row = named === null ? rowOf(table, model) : table.find((candidate) => candidate.name === named);
  // A version set together with the deployment belongs to it. A version of the provider as a whole is replaced by its row's.
  const apiVersion = (named === null ? (row?.apiVersion ?? version) : (version ?? row?.apiVersion)) ?? 'v1';
  const deployment = named ?? row?.name ?? (table.length === 0 && model !== '' ? model : null);
  if (deployment !== null) return { deployment, apiVersion, model: row?.model ?? null };
  if (table.length === 0) throw badParam('model', 'the name of a deployment is expected by azure-openai');
  throw new GatewayError('bad_request', {
    message: `model: no deployment has the alias "${model}" and none is the default (No azure alias passed/default config found)`,
    param: 'model',
  });
}

export function deploymentOfCall(call: OperationCall): DeploymentAddress {
  return deploymentOf(call.settings, call.model);
}

/** True for the API whose paths contain no deployment. The body's model names it. */
export function isVersionFree(deployment: DeploymentAddress): boolean {
  return /^(v1|preview|latest)$/.test(deployment.apiVersion);
}

/** True if the API is at least of this date. */
export function isSince(deployment: DeploymentAddress, date: string): boolean {
  return isVersionFree(deployment) || deployment.apiVersion.slice(0, 10) >= date;
}

function rowOf(table: readonly Deployment[], model: string): Deployment | undefined {
  return (
    table.find((row) => row.alias === model) ??
    table.find((row) => row.model === model) ??
    table.find((row) => row.name === model) ??
    table.find((row) => row.isDefault)
  );
}
