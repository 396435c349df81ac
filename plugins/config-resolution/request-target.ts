import type { RequestContext, RequestTarget } from '../../core/contract/plugin/context.ts';
import type { CoreServices } from '../../core/contract/plugin/core-plugin.ts';
import { headerParam } from '../../core/contract/protocol/header-names.ts';
import type { Credentials } from '../../core/contract/provider/provider.ts';
import type { SettingNames } from '../../core/contract/provider/setting-names.ts';
import { holdsCredential } from '../../core/contract/values/credentials/api-key.ts';
import { Secret } from '../../core/contract/values/credentials/secret.ts';
import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { credentialHeaders } from '../../core/contract/values/http/credential-headers.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { splitModelSlug } from '../../core/contract/values/models/model-slug.ts';
import { percentDecoded } from '../../core/contract/values/text/percent-decoded.ts';

/** An entry of `x-svc-beta`: the older name of the setting `use_responses_api`, with any date. */
const asksForResponsesApi = /(^|,)\s*use-responses-api(-\d{4}-\d{2}-\d{2})?\s*(,|$)/;

/** Headers of provider settings without the gateway's prefix, and the setting that each carries. */
export interface SettingHeaders {
  readonly settings: ReadonlyMap<string, string>;
  readonly secrets: ReadonlyMap<string, string>;
}

/** Returns the names of settings by their headers without prefix: `aws-region` → `aws_region`. */
export function settingHeadersOf({ settings, secrets }: SettingNames): SettingHeaders {
  const byHeader = (names: readonly string[]) => new Map(names.map((name) => [name.replaceAll('_', '-'), name]));
  return { settings: byHeader(settings), secrets: byHeader(secrets) };
}

/**
 * Removes `@slug/` from the model of the body, or of the query on pass-through routes, and returns `@slug`. Model names that
 * begin with `@cf/` or `@hf/` are names, not slugs.
 */
export function stripModelSlug(ctx: RequestContext): string | null {
  const model = ctx.model;
  if (model !== null && ctx.params) {
    const split = splitModelSlug(model);
    if (!split) return null;
    ctx.replaceMembers({ ...ctx.params, model: split.model });
    return split.slug;
  }
  // Clients of Azure's dated API name the model of a session `deployment`.
  if (ctx.endpoint?.isRealtime && !/(^|&)model=/.test(ctx.query)) {
    ctx.query = ctx.query.replace(/(^|&)deployment=/, '$1model=');
  }
  return ctx.query.includes('model=') ? stripQueryModel(ctx) : null;
}

/** Returns the target that headers and model name; null if they name none. */
export function readRequestTarget(
  ctx: RequestContext,
  modelSlug: string | null,
  services: CoreServices,
  known: SettingHeaders,
): RequestTarget | null {
  const headers = ctx.gatewayHeaders;
  const provider = providerOf(ctx, modelSlug, services);
  // An empty host is rejected, unlike other empty options: without it, the request would go to the provider's public host.
  const customHost = headers.get('custom-host') ?? null;
  if (customHost !== null) {
    const issue = services.checkCustomHost(customHost);
    if (issue !== null)
      throw new GatewayError('invalid_custom_host', {
        message: `Invalid custom host: ${issue}`,
        param: headerParam('custom-host'),
      });
  }
  const timeoutMs = timeoutOf(headers.get('request-timeout'));
  const forwardHeaders = forwardOf(headers.get('forward-headers'));
  const strict = booleanOf(headers.get('strict-open-ai-compliance'), headerParam('strict-open-ai-compliance'));
  const settings = settingsOf(ctx, known);
  const credentials = credentialsOf(ctx, known);
  if (
    provider === null &&
    customHost === null &&
    timeoutMs === null &&
    forwardHeaders === null &&
    strict === null &&
    settings === nothing &&
    credentials === nothing
  ) {
    return null;
  }
  return { provider, credentials, customHost, settings, timeoutMs, forwardHeaders, strict };
}

function providerOf(ctx: RequestContext, modelSlug: string | null, services: CoreServices): string | null {
  const named = ctx.gatewayHeaders.get('provider') ?? '';
  if (named.startsWith('@')) return named.split('/', 1)[0] as string;
  if (named !== '' && !services.isProvider(named)) {
    throw new GatewayError('invalid_provider', {
      message: `Invalid provider passed: ${named.slice(0, 100)}${services.providerHint?.(named) ?? ''}`,
      param: headerParam('provider'),
    });
  }
  // Beside a virtual key, a provider type names the type of that stored provider.
  const virtualKey = ctx.gatewayHeaders.get('virtual-key') ?? '';
  if (virtualKey !== '') return `@${virtualKey.replace(/^@/, '')}`;
  return named === '' ? modelSlug : named;
}

const nothing = Object.freeze({});

/**
 * Returns the caller's own provider credentials: those in Authorization, x-api-key or api-key that are not the gateway's key.
 * SDKs may send the gateway's key in two headers. The copy is not a provider credential.
 */
function credentialsOf(ctx: RequestContext, known: SettingHeaders): Credentials {
  let credentials: Record<string, Secret> = nothing;
  for (const [header, value] of ctx.gatewayHeaders) {
    const key = known.secrets.get(header);
    if (key !== undefined && value !== '') credentials = { ...credentials, [key]: new Secret(value) };
  }
  if (ctx.svcOptions?.has('authorization')) {
    return { ...credentials, api_key: keyIn(ctx.gatewayHeaders.get('authorization') as string) };
  }
  for (const name of credentialHeaders) {
    if (name === ctx.keyHeader) continue;
    const value = ctx.request.header(name);
    if (value === undefined || holdsCredential(value, ctx.token)) continue;
    return { ...credentials, api_key: name === 'authorization' ? keyIn(value) : new Secret(value) };
  }
  return credentials;
}

function keyIn(authorization: string): Secret {
  return new Secret(authorization.replace(/^bearer\s+/i, ''));
}

function settingsOf(ctx: RequestContext, known: SettingHeaders): JsonObject {
  let settings: JsonObject = nothing;
  for (const [header, value] of ctx.gatewayHeaders) {
    if (value === '') continue;
    const key = known.settings.get(header);
    if (key !== undefined) settings = { ...settings, [key]: value };
    else if (header === 'beta' && asksForResponsesApi.test(value)) settings = { ...settings, use_responses_api: true };
  }
  return settings;
}

function timeoutOf(value: string | undefined): number | null {
  if (value === undefined || value === '') return null;
  const ms = /^\d{1,8}$/.test(value) ? Number(value) : 0;
  if (ms >= 1) return ms;
  throw new GatewayError('bad_request', {
    message: `${headerParam('request-timeout')}: expected a whole number of milliseconds above 0`,
    param: headerParam('request-timeout'),
  });
}

function forwardOf(value: string | undefined): string[] | null {
  if (value === undefined) return null;
  const names = value
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  for (const name of names) {
    if (!/^[a-z0-9-]{1,128}$/.test(name) || name.endsWith('forward-headers')) {
      throw new GatewayError('bad_request', {
        message: `x-svc-forward-headers: ${name.slice(0, 128)} cannot be forwarded. Expected names of headers, separated by commas`,
        param: headerParam('forward-headers'),
      });
    }
  }
  return names;
}

function booleanOf(value: string | undefined, name: string): boolean | null {
  if (value === undefined || value === '') return null;
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new GatewayError('bad_request', { message: `${name}: expected true or false`, param: name });
}

function stripQueryModel(ctx: RequestContext): string | null {
  let slug: string | null = null;
  const parts = ctx.query.split('&').map((part) => {
    if (!part.startsWith('model=')) return part;
    const split = splitModelSlug(percentDecoded(part.slice('model='.length)));
    if (!split) return part;
    slug = split.slug;
    return `model=${encodeURIComponent(split.model)}`;
  });
  if (slug !== null) ctx.query = parts.join('&');
  return slug;
}
