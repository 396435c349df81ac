import type { ProviderSettings } from '../../contract/provider/provider.ts';

/** Placeholder for a project that is unknown until the credential is read. `sign` replaces it. */
export const anyProject = '-';

const defaultRegion = 'global';

/** The host that serves a region; `us` and `eu` are regions of their own (@google/genai 3.1, `MULTI_REGIONAL_LOCATIONS`). */
export function baseUrl(settings: ProviderSettings): string {
  const region = regionOf(settings);
  if (region === 'global') return 'https://aiplatform.googleapis.com';
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com`;
  return `https://${region}-aiplatform.googleapis.com`;
}

/** `/v1/projects/p/locations/l` and the rest. The model table marks models that are under `v1beta1` only. */
export function locationPath(settings: ProviderSettings, below: string): string {
  return `${versionPath(settings)}/projects/${projectOf(settings)}/locations/${regionOf(settings)}${below}`;
}

/**
 * Returns the path of a pass-through call. A path that begins with `/publishers` or `/endpoints` gets the project and region. That of live
 * sessions (`/ws`) has no version.
 */
export function proxyPath(path: string, settings: ProviderSettings): string {
  if (/^\/(v\d[a-z0-9]*|ws)\//.test(path)) return path;
  return /^\/(publishers|endpoints|batchPredictionJobs|cachedContents|tuningJobs)(\/|$|:)/.test(path)
    ? locationPath(settings, path)
    : versionPath(settings) + path;
}

/**
 * Returns a path with its project, or without one for keys of Vertex AI's express mode, which belong to a project themselves.
 * Their paths begin at `/publishers`. Null if the path needs a project and there is none.
 */
export function withProject(path: string, project: string | null, express: boolean): string | null {
  const open = `/projects/${anyProject}/locations/`;
  const at = path.indexOf(open);
  if (at < 0) return path;
  if (project !== null) return path.replace(open, `/projects/${encodeURIComponent(project)}/locations/`);
  if (!express) return null;
  const publishers = path.indexOf('/publishers/', at);
  return publishers < 0 ? null : path.slice(0, at) + path.slice(publishers);
}

function regionOf(settings: ProviderSettings): string {
  return typeof settings.vertex_region === 'string' ? settings.vertex_region : defaultRegion;
}

function projectOf(settings: ProviderSettings): string {
  return typeof settings.vertex_project_id === 'string' ? encodeURIComponent(settings.vertex_project_id) : anyProject;
}

/** A base URL that ends in a version sets the version. */
function versionPath(settings: ProviderSettings): string {
  const host = settings.custom_host;
  return typeof host === 'string' && /\/v\d[a-z0-9]*\/?$/.test(host) ? '' : '/v1';
}
