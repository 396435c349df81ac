import type { DeploymentProbe } from '../../contract/provider/model-list.ts';
import type { ProviderSettings } from '../../contract/provider/provider.ts';
import { objectsIn } from '../../contract/values/json/json.ts';
import { proxyPath } from './address.ts';

/** Returns one chat completion without messages for each deployment in the table of an integration. */
export function deploymentProbes(settings: ProviderSettings): DeploymentProbe[] {
  const rows = objectsIn(settings.azure_deployment_config);
  return rows.map((row, index) => {
    const name = String(row.azure_deployment_name);
    const version = String(row.azure_api_version);
    const dated = `${proxyPath(`/deployments/${encodeURIComponent(name)}/chat/completions`, settings)}?api-version=${encodeURIComponent(version)}`;
    return {
      field: `azure_deployment_config[${index}].azure_deployment_name`,
      path: /^\d/.test(version) ? dated : '/openai/v1/chat/completions',
      body: { model: name, messages: [] },
    };
  });
}
