import type { RequestContext } from '../../core/contract/context.ts';
import { type ErrorCode, GatewayError } from '../../core/contract/errors.ts';
import { providerSecretKeys, providerSettingKeys } from '../../core/contract/provider-settings.ts';

/** Settings that only choose among behaviours of the same account at the same provider, or say more of what is sent. */
const harmless: ReadonlySet<string> = new Set([
  ...['anthropic_beta', 'anthropic_version', 'use_responses_api'],
  ...['provider_model', 'provider_batch_endpoint', 'provider_file_name', 'file_upload_size', 'file_purpose'],
]);

const urlHeaders: ReadonlySet<string> = new Set(
  ['provider_url', ...providerSettingKeys.filter((key) => key.endsWith('_url'))].map(headerOf),
);
const settingHeaders: ReadonlySet<string> = new Set(
  [...providerSettingKeys, ...providerSecretKeys].filter((key) => !harmless.has(key)).map(headerOf),
);

/**
 * Saved-only mode (semantics §2): refuses a request that brings its own config, provider, host or forwarded headers, naming the
 * first of them. Saved configs by slug, `@slug` providers and models, and a bare Authorization pass.
 */
export function checkSavedOnly(ctx: RequestContext): void {
  const headers = ctx.gatewayHeaders;
  const config = headers.get('config');
  if (config && !isConfigSlug(config)) {
    throw blocked('inline_config_blocked', 'config', 'Inline configs are blocked; save the config and send its slug');
  }
  const provider = headers.get('provider');
  if (provider && !provider.startsWith('@')) {
    throw blocked('inline_provider_blocked', 'provider', 'Inline providers are blocked; use a stored provider as @slug');
  }
  if (headers.get('custom-host')) {
    throw blocked('inline_custom_host_blocked', 'custom-host', 'Custom hosts of requests are blocked; set it on an integration');
  }
  for (const [name, value] of headers) {
    if (value === '') continue;
    if (urlHeaders.has(name)) {
      throw blocked('inline_provider_url_blocked', name, 'Provider URLs of requests are blocked; set it on an integration');
    }
    if (settingHeaders.has(name)) {
      throw blocked('inline_provider_blocked', name, 'Provider settings of requests are blocked; set them on an integration');
    }
  }
  if (headers.get('forward-headers')) {
    throw blocked(
      'inline_forward_headers_blocked',
      'forward-headers',
      'Forwarding headers is blocked; set forward_headers in a saved config',
    );
  }
}

const slugPattern = /^[a-zA-Z0-9_-]{1,255}$/;

/** Anything that could be a slug is one, whatever it begins with: a config that can be saved can be used. */
export function isConfigSlug(header: string): boolean {
  return slugPattern.test(header);
}

function blocked(code: ErrorCode, header: string, message: string): GatewayError {
  return new GatewayError(code, { message, param: `x-svc-${header}` });
}

function headerOf(key: string): string {
  return key.replaceAll('_', '-');
}
