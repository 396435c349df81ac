import type { OutgoingCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { withoutTrailingSlashes } from '../../contract/values/addresses/trailing-slashes.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { type DeploymentAddress, deploymentOf, isSince, isVersionFree } from './deployments.ts';

/**
 * Two forms of URL below `https://<resource>.openai.azure.com`: `/openai/deployments/<deployment>/<function>?api-version=<date>`,
 * and since 2025 `/openai/v1/<function>`, where the body's model names the deployment.
 * https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
 */

/** Returns `https://<resource>.openai.azure.com`. Throws `invalid_config` if no resource is set. */
export function baseUrl(settings: ProviderSettings): string {
  if (typeof settings.custom_host === 'string' && settings.custom_host !== '')
    return withoutTrailingSlashes(settings.custom_host);
  if (typeof settings.azure_resource_name === 'string') return `https://${settings.azure_resource_name}.openai.azure.com`;
  throw new GatewayError('invalid_config', {
    message: 'azure_resource_name is required by azure-openai: the first label of <name>.openai.azure.com',
    param: 'azure_resource_name',
  });
}

/** Path of a function that belongs to a deployment: chat completions, completions, embeddings. */
export function deploymentPath(settings: ProviderSettings, deployment: DeploymentAddress, path: string): string {
  if (isVersionFree(deployment)) return versionFreePath(settings, deployment, path);
  return `${root(settings)}/deployments/${encodeURIComponent(deployment.deployment)}${path}?api-version=${deployment.apiVersion}`;
}

/** Returns the path of the Responses API. It is dated since 2025-03-01. Older versions use the version-free API. */
export function responsesPath(settings: ProviderSettings, deployment: DeploymentAddress): string {
  if (isVersionFree(deployment) || !isSince(deployment, '2025-03-01')) return versionFreePath(settings, deployment, '/responses');
  return `${root(settings)}/responses?api-version=${deployment.apiVersion}`;
}

/** Functions whose dated form has the deployment in its path. */
const ofDeployments =
  /^\/(chat\/completions|completions|embeddings|images\/(generations|edits)|audio\/(speech|transcriptions|translations))$/;

/** Returns the path of a pass-through call. Paths that are already complete (`/openai/…`) stay unchanged. */
export function proxyPath(path: string, settings: ProviderSettings): string {
  if (path.startsWith('/openai/')) return root(settings) === '' ? path.slice('/openai'.length) : path;
  if (path.startsWith('/deployments/')) return root(settings) + path;
  const address = proxyDeployment(settings);
  const ofDeployment = ofDeployments.test(path);
  // Responses do not exist in the older dated versions.
  const isYounger = path.startsWith('/responses') && !isSince(address, '2025-03-01');
  if (isYounger || isVersionFree(address) || (ofDeployment && address.deployment === ''))
    return `${root(settings)}${v1(settings)}${path}`;
  const deployment = ofDeployment ? `/deployments/${encodeURIComponent(address.deployment)}` : '';
  return `${root(settings)}${deployment}${path}`;
}

/**
 * Path of a realtime session: `/openai/v1/realtime?model=<deployment>`, or with a dated version
 * `/openai/realtime?api-version=<date>&deployment=<deployment>`. A version in the client's query takes
 * precedence. A `deployment` counts only without a `model`, because limits, restricted models and targets' overrides apply to the `model`.
 */
export function realtimePath(asked: URLSearchParams, model: string, settings: ProviderSettings): string {
  const name = model !== '' ? model : (asked.get('deployment') ?? '');
  // Sessions that transcribe, or join a call, name no deployment.
  const address = name === '' ? proxyDeployment(settings) : deploymentOf(settings, name);
  const { deployment } = address;
  const apiVersion = asked.get('api-version') ?? address.apiVersion;
  const query = new URLSearchParams(asked);
  for (const key of ['model', 'deployment', 'api-version']) query.delete(key);
  const versionFree = isVersionFree({ deployment, apiVersion });
  if (!versionFree) query.set('api-version', apiVersion);
  if (deployment !== '') query.set(versionFree ? 'model' : 'deployment', deployment);
  return `${root(settings)}${versionFree ? v1(settings) : ''}/realtime?${query}`;
}

/** Adds the API version to a pass-through call without one. */
export function addApiVersion(call: OutgoingCall, settings: ProviderSettings): void {
  if (/[?&]api-version=/.test(call.path) || /\/v1\//.test(call.path)) return;
  const deployment = proxyDeployment(settings);
  if (isVersionFree(deployment)) return;
  call.path += `${call.path.includes('?') ? '&' : '?'}api-version=${deployment.apiVersion}`;
}

/** The body is not read, so the model is unknown. The default deployment is used if there is one. */
function proxyDeployment(settings: ProviderSettings): DeploymentAddress {
  try {
    return deploymentOf(settings, '');
  } catch {
    return { deployment: '', apiVersion: typeof settings.azure_api_version === 'string' ? settings.azure_api_version : 'v1' };
  }
}

function versionFreePath(settings: ProviderSettings, deployment: DeploymentAddress, path: string): string {
  const query = deployment.apiVersion === 'preview' ? '?api-version=preview' : '';
  return `${root(settings)}${v1(settings)}${path}${query}`;
}

/** Returns `/openai`, unless the path of a custom host contains it. */
function root(settings: ProviderSettings): string {
  return /\/openai(\/v1)?\/*$/.test(String(settings.custom_host ?? '')) ? '' : '/openai';
}

function v1(settings: ProviderSettings): string {
  return /\/openai\/v1\/*$/.test(String(settings.custom_host ?? '')) ? '' : '/v1';
}
