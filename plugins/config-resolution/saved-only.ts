import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { defaultPrefix } from '../../core/contract/protocol/header-names.ts';
import { ownStoreProvider } from '../../core/contract/provider/own-store.ts';
import type { SettingNames } from '../../core/contract/provider/setting-names.ts';
import { type ErrorCode, GatewayError } from '../../core/contract/values/errors/errors.ts';

/** Headers that saved-only mode rejects: those of URLs, and those of settings and credentials that select an account. */
export interface BlockedHeaders {
  readonly urls: ReadonlySet<string>;
  readonly settings: ReadonlySet<string>;
}

/** Returns the headers without prefix that saved-only mode blocks. Settings marked `inline` in a declaration stay allowed. */
export function blockedHeadersOf({ settings, secrets, hosts, inline }: SettingNames): BlockedHeaders {
  const allowed = new Set(inline);
  return {
    urls: new Set(['provider_url', ...hosts].map(headerOf)),
    settings: new Set([...settings, ...secrets].filter((name) => !allowed.has(name)).map(headerOf)),
  };
}

/**
 * Checks a request in saved-only mode. Throws for a config, provider, host or forwarded headers of the request's own,
 * with the name of the first such header. Saved configs by slug, `@slug` providers and models, `svc` and a bare Authorization pass.
 * `byDeployment`: `BLOCK_INLINE_CONFIG` is set, so no organisation can allow inline use.
 */
export function checkSavedOnly(ctx: RequestContext, byDeployment: boolean, blockedHeaders: BlockedHeaders): void {
  const headers = ctx.gatewayHeaders;
  const blocked = (code: ErrorCode, header: string, what: string, instead: string): GatewayError =>
    new GatewayError(code, {
      message: `${what} are blocked. ${instead}. ${byDeployment ? blockedByDeployment : howToAllow}`,
      param: defaultPrefix + header,
    });
  const config = headers.get('config');
  if (config && !isConfigSlug(config)) throw blocked('inline_config_blocked', 'config', 'Inline configs', saveConfig);
  const provider = headers.get('provider');
  // Beside a virtual key, it only names the type of that stored provider. The service's own store has no settings or credentials.
  if (provider && provider !== ownStoreProvider && !provider.startsWith('@') && !headers.get('virtual-key')) {
    throw blocked('inline_provider_blocked', 'provider', 'Inline providers', saveProvider);
  }
  if (headers.get('custom-host')) {
    throw blocked('inline_custom_host_blocked', 'custom-host', 'Custom hosts of requests', setOnIntegration('custom_host'));
  }
  for (const [name, value] of headers) {
    if (value === '') continue;
    const field = name.replaceAll('-', '_');
    if (blockedHeaders.urls.has(name)) {
      throw blocked('inline_provider_url_blocked', name, 'Provider URLs of requests', setOnIntegration(field));
    }
    if (blockedHeaders.settings.has(name)) {
      throw blocked('inline_provider_blocked', name, 'Provider settings of requests', setOnIntegration(field));
    }
  }
  if (headers.get('forward-headers')) {
    throw blocked('inline_forward_headers_blocked', 'forward-headers', 'Forwarded headers', forwardInConfig);
  }
}

const saveConfig = 'Save the config with POST /v1/configs and send its slug as x-svc-config';
const saveProvider =
  'Store the provider with POST /v1/integrations and POST /v1/providers, and send @<its slug> as x-svc-provider or before the model';
const forwardInConfig = 'Set forward_headers in a saved config';
const setOnIntegration = (field: string) => `Set configurations.${field} of an integration with PUT /v1/integrations/<slug>`;
const howToAllow =
  'To allow inline use, set data_plane_security_settings.block_inline_config to false with PUT /v1/organisations/self';
const blockedByDeployment = 'The setting BLOCK_INLINE_CONFIG of this deployment does not allow inline use';

const slugPattern = /^[a-zA-Z0-9_-]{1,255}$/;

/** Any text that could be a slug is treated as one, because every saved config must be usable. */
export function isConfigSlug(header: string): boolean {
  return slugPattern.test(header);
}

function headerOf(key: string): string {
  return key.replaceAll('_', '-');
}
