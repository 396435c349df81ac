import type { OutgoingCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { withoutTrailingSlashes } from '../../contract/values/addresses/trailing-slashes.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { textOrNull } from '../../contract/values/json/json.ts';

/**
 * The addresses a model of Microsoft Foundry may have
 * (https://learn.microsoft.com/azure/foundry/foundry-models/concepts/endpoints):
 *
 * | form | chat completions |
 * |---|---|
 * | resource, version-free | `https://<resource>.services.ai.azure.com/openai/v1/chat/completions` |
 * | resource, dated version | `https://<resource>.services.ai.azure.com/models/chat/completions?api-version=<date>` |
 * | one deployment | `https://<resource>.…/openai/deployments/<name>/chat/completions?api-version=<date>` |
 * | serverless | `https://<name>.<region>.models.ai.azure.com/chat/completions?api-version=<date>` |
 * | managed | `https://<endpoint>.<region>.inference.ml.azure.com/score/chat/completions?api-version=<date>` |
 * | Claude models | `https://<resource>.services.ai.azure.com/anthropic/v1/messages` |
 *
 * Images and audio of a resource are only known to the version-free API and to deployments; rerank, OCR and some image models have
 * the API of their maker, below `/providers/`.
 */
interface Address {
  readonly origin: string;
  /** Prefix of every path, without trailing slash. */
  readonly root: string;
  /** Further prefix of `/chat/completions` and the other OpenAI paths. */
  readonly prefix: string;
  /** null = the API without versions. */
  readonly apiVersion: string | null;
}

const defaultVersion = '2024-05-01-preview';

export function baseUrl(settings: ProviderSettings): string {
  const { origin, root } = addressOf(settings);
  return origin + root;
}

/** Returns the path of a function in OpenAI's format. */
export function chatPath(settings: ProviderSettings, path: string): string {
  const { prefix, apiVersion } = addressOf(settings);
  return relative(settings, prefix + path) + (apiVersion === null ? '' : `?api-version=${apiVersion}`);
}

/**
 * Path of images, audio and the list of models. The Model Inference API has none of them, so calls to a resource use the
 * version-free API.
 */
export function mediaPath(settings: ProviderSettings, path: string): string {
  return addressOf(settings).prefix === '/models' ? relative(settings, `/openai/v1${path}`) : chatPath(settings, path);
}

/**
 * Returns the path of a function in its maker's format: `/providers` and `onResource` on a resource, `alone` on an endpoint of one model.
 */
export function makerPath(settings: ProviderSettings, onResource: string, alone: string): string {
  return isSingleModel(settings) ? relative(settings, alone) : relative(settings, `/providers${onResource}`);
}

/** Path of a function in Anthropic's format. */
export function claudePath(settings: ProviderSettings, path: string): string {
  return relative(settings, `/anthropic/v1${path}`);
}

/**
 * Path of files, batches and fine-tuning jobs. They belong to the resource, whatever deployment or version is set, and have
 * OpenAI's form.
 */
export function storedPath(settings: ProviderSettings, path: string): string {
  return relative(settings, `/openai/v1${path}`);
}

/**
 * Returns the path of a pass-through call. Whole paths of the resource stay unchanged, others get the prefix of the unified
 * functions.
 */
export function proxyPath(path: string, settings: ProviderSettings): string {
  if (/^\/(openai|models|anthropic|api|providers)\//.test(path)) return relative(settings, path);
  if (/^\/messages(\/|$)/.test(path)) return claudePath(settings, path);
  return relative(settings, addressOf(settings).prefix + path);
}

/** Path of a realtime session: resources have OpenAI's API without versions, where the model is the name of a deployment. */
export function realtimePath(asked: URLSearchParams, _model: string, settings: ProviderSettings): string {
  const query = new URLSearchParams(asked);
  const deployment = textOrNull(settings.azure_deployment_name);
  if (deployment !== null) query.set('model', deployment);
  return relative(settings, `/openai/v1/realtime?${query}`);
}

/** Adds the API version to a pass-through call without one. */
export function addApiVersion(call: OutgoingCall, settings: ProviderSettings): void {
  if (/[?&]api-version=/.test(call.path) || /\/(openai\/v1|anthropic|api|providers)\//.test(call.path)) return;
  const { apiVersion } = addressOf(settings);
  if (apiVersion !== null) call.path += `${call.path.includes('?') ? '&' : '?'}api-version=${apiVersion}`;
}

/** True for endpoints that hold one model and take its key as bearer token. */
export function isSingleModel(settings: ProviderSettings): boolean {
  return settings.azure_deployment_type !== undefined || /\.(models\.ai|inference\.ml)\.azure\.com$/.test(hostOf(settings));
}

/** True for the Model Inference API, which refuses unknown parameters unless a header selects another treatment. */
export function isInferenceApi(settings: ProviderSettings): boolean {
  const { prefix, apiVersion } = addressOf(settings);
  return apiVersion !== null && !prefix.startsWith('/openai/');
}

function addressOf(settings: ProviderSettings): Address {
  const given = textOrNull(settings.custom_host) ?? textOrNull(settings.azure_foundry_url);
  const asked = textOrNull(settings.azure_api_version);
  const version = asked === null || asked === 'v1' ? null : asked;
  if (given === null) return { ...endpointOf(settings), apiVersion: version ?? defaultVersion };
  const url = URL.parse(given);
  if (url === null)
    throw invalidSetting(given === settings.custom_host ? 'custom_host' : 'azure_foundry_url', 'a URL is expected');
  const path = withoutTrailingSlashes(url.pathname).replace(/\/(chat\/completions|embeddings|messages)$/, '');
  const { origin, hostname } = url;
  if (hostname.endsWith('.models.ai.azure.com') || hostname.endsWith('.inference.ml.azure.com')) {
    return { origin, root: path, prefix: '', apiVersion: version ?? defaultVersion };
  }
  const known =
    /^(.*?)(\/models|\/openai\/v1|\/openai\/deployments\/[^/]+|\/openai|\/anthropic(?:\/v1)?|\/api\/projects\/[^/]+)$/.exec(path);
  const root = known?.[1] ?? path;
  const tail = known?.[2] ?? '';
  if (tail === '/models') return { origin, root, prefix: tail, apiVersion: version ?? defaultVersion };
  if (tail.startsWith('/openai/deployments/')) {
    return { origin, root, prefix: tail, apiVersion: version ?? url.searchParams.get('api-version') ?? '2024-10-21' };
  }
  const isDated = version !== null && version !== 'preview' && tail !== '/openai/v1';
  if (isDated) return { origin, root, prefix: '/models', apiVersion: version };
  return { origin, root, prefix: '/openai/v1', apiVersion: version === 'preview' ? version : null };
}

/** Returns the host of a serverless or managed endpoint, built from its parts. */
function endpointOf(settings: ProviderSettings): Omit<Address, 'apiVersion'> {
  const { azure_deployment_type: type } = settings;
  if (type === undefined) throw invalidSetting('azure_foundry_url');
  const region = textOrNull(settings.azure_region) ?? fail('azure_region');
  if (type === 'managed') {
    const endpoint = textOrNull(settings.azure_endpoint_name) ?? fail('azure_endpoint_name');
    return { origin: `https://${endpoint}.${region}.inference.ml.azure.com`, root: '/score', prefix: '' };
  }
  const name = (textOrNull(settings.azure_deployment_name) ?? fail('azure_deployment_name')).toLowerCase();
  if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name))
    throw invalidSetting('azure_deployment_name', 'must be one label of a host name');
  return { origin: `https://${name}.${region}.models.ai.azure.com`, root: '', prefix: '' };
}

/** Returns a path below the root, without the part that a custom host already has in its own path. */
function relative(settings: ProviderSettings, path: string): string {
  const custom = textOrNull(settings.custom_host);
  if (custom === null) return path;
  const { root } = addressOf(settings);
  const given = withoutTrailingSlashes(URL.parse(custom)?.pathname ?? '');
  const whole = root + path;
  return whole.startsWith(`${given}/`) ? whole.slice(given.length) : path;
}

function hostOf(settings: ProviderSettings): string {
  return URL.parse(textOrNull(settings.custom_host) ?? textOrNull(settings.azure_foundry_url) ?? '')?.hostname ?? '';
}

function fail(name: string): never {
  throw invalidSetting(name);
}

function invalidSetting(name: string, error = 'required by azure-ai'): GatewayError {
  return new GatewayError('invalid_config', { message: `${name}: ${error}`, param: name });
}
