import type { OperationCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { resourcePath } from '../../formats/gemini/resource-name.ts';

/**
 * Returns the path of a model below the base URL: `/v1beta/models/gemini-3.8-flash`. Names of tuned models include their folder.
 */
export function modelPath(call: OperationCall): string {
  const path = resourcePath(call.model);
  const inFolder = /^(models|tunedModels)\//.test(path);
  return `${versionPath(call.settings)}/${inFolder ? '' : 'models/'}${path}`;
}

/**
 * Returns the path of a pass-through call. Paths without a version get the one that has every feature. That of live sessions (`/ws`) has none. Google's SDKs
 * always send a version; it is left out if the base URL has one.
 */
export function proxyPath(path: string, settings: ProviderSettings): string {
  if (versionPath(settings) === '') return path.replace(/^(\/(?:upload|download))?\/v\d[a-z0-9]*(?=\/)/, '$1');
  return /^\/(v\d[a-z0-9]*|upload|download|static|ws)(\/|$)/.test(path) ? path : versionPath(settings) + path;
}

/** Moves the version of a base URL behind `upload` and `download`: `/upload/v1beta/files`. */
export function versionedMedia(path: string): string {
  return path.replace(/^([^?]*?)(\/v\d[a-z0-9]*)(\/(?:upload|download))(?=\/)/, '$1$3$2');
}

/** Previews and most settings are only in `v1beta`. A version in the base URL takes precedence. */
function versionPath(settings: ProviderSettings): string {
  const host = settings.custom_host;
  return typeof host === 'string' && /\/v\d[a-z0-9]*\/?$/.test(host) ? '' : '/v1beta';
}
