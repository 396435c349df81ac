import type { JsonObject } from '../../../core/contract/values/json.ts';
import { AdminError } from '../../http/errors.ts';
import { credentialNames, settingOf } from './aliases.ts';

/**
 * Runs `work` on the integration behind a provider. If it refuses a setting, renames the setting in the error to the name used in
 * the provider's body.
 */
export async function nameAsSent<T>(body: Readonly<JsonObject>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AdminError) || error.errors === null) throw error;
    const errors = error.errors.map((error) => inBody(error, body));
    throw new AdminError(error.code, errors[0] ?? error.message, errors, error.status);
  }
}

function inBody(error: string, body: Readonly<JsonObject>): string {
  return error.replace(/configurations\.([a-z0-9_]+)(\[\d+\]\.?)?([a-z0-9_]*)/g, (_, setting: string, row = '', field = '') => {
    if (setting !== 'azure_deployment_config') return nameOf(setting, body);
    if (body.deploymentName !== undefined && body.deploymentConfig === undefined)
      return deploymentFields[field] ?? 'deploymentName';
    return `${nameOf(setting, body)}${row}${body.deploymentConfig === undefined ? field : (deploymentFields[field] ?? field)}`;
  });
}

/** Returns the name as sent, else the older name of the setting. */
function nameOf(setting: string, body: Readonly<JsonObject>): string {
  const names = credentialNames.filter((name) => settingOf(name) === setting);
  return names.find((name) => body[name] !== undefined && body[name] !== null) ?? names[0] ?? setting;
}

const deploymentFields: Readonly<Record<string, string>> = {
  azure_deployment_name: 'deploymentName',
  azure_api_version: 'apiVersion',
  azure_model_slug: 'modelSlug',
};
