import * as v from 'valibot';
import { didYouMean } from '../../../config/did-you-mean.ts';
import type { Credentials, ProviderAdapter, ProviderSettings } from '../../contract/provider/provider.ts';
import type { ParseUrl } from '../../contract/values/addresses/call-address.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { issueText } from '../../contract/values/errors/input-issues.ts';
import { isCredentialHeader, withoutCredentials } from '../../contract/values/http/credential-headers.ts';
import { type HeaderList, headerValuePattern, notHeaderValue } from '../../contract/values/http/http.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';

/** A target with everything an attempt needs: address, credentials and adapter. */
export interface ResolvedTarget {
  readonly adapter: ProviderAdapter;
  /** Slug of the stored provider, null for a provider named by type. */
  readonly slug: string | null;
  readonly settings: ProviderSettings;
  readonly credentials: Credentials;
  readonly origin: string;
  /** Path part of the base URL, without trailing slash. */
  readonly basePath: string;
  /** Credential, version and custom headers of every call. */
  readonly headers: HeaderList;
  /** Headers for another origin of the provider (its storage), if they differ: without custom headers that are credentials. */
  readonly headersElsewhere?: HeaderList;
  /**
   * Returns the target of a model, if models are restricted or have their own hosts; null or absent if all models share one.
   * Throws `model_not_allowed`.
   */
  readonly ofModel?: ((model: string) => ResolvedTarget) | null;
  /** True if the stored provider, or its integration, has a budget or rate limit. */
  readonly isLimited?: boolean;
  /** True if `ofModel` refuses some models, so that a request must state the model that its provider will read. */
  readonly restrictsModels?: boolean;
  /**
   * Reads the credential's values from the secret manager again after the provider has refused them. Resolves to true if
   * resolving the target again would give other values. Never rejects. Null or absent if no part of the credential comes from a
   * secret manager.
   */
  readonly renew?: (() => Promise<boolean>) | null;
}

export interface BuilderOptions {
  readonly providers: ReadonlyMap<string, ProviderAdapter>;
  readonly parseBaseUrl: ParseUrl;
}

export interface TargetBuilder {
  /** Throws `invalid_provider`. */
  adapterOf(type: string): ProviderAdapter;
  /**
   * Returns the target for settings and credentials. Custom headers replace the adapter's own of the same name. Throws
   * `invalid_config` naming the setting, also for a value that no header can have, `invalid_custom_host`, and the adapter's errors
   * about credentials.
   */
  build(
    listed: ProviderAdapter,
    slug: string | null,
    given: JsonObject,
    credentials: Credentials,
    customHeaders: Readonly<Record<string, string>> | null,
  ): ResolvedTarget;
}

/** Builds targets from settings. Does no I/O. */
export function createBuilder(options: BuilderOptions): TargetBuilder {
  return {
    adapterOf(type) {
      const adapter = options.providers.get(type);
      if (adapter) return adapter;
      throw new GatewayError('invalid_provider', {
        message: `Invalid provider passed: ${type.slice(0, 100)} is not a known provider type${didYouMean(type, [...options.providers.keys()])}`,
        param: 'provider',
      });
    },
    build(listed, slug, given, credentials, customHeaders) {
      const adapter = listed.variant?.(given) ?? listed;
      const parsed = v.safeParse(adapter.settings, given);
      if (!parsed.success) {
        const errors = parsed.issues.map((issue) => issueText(issue, 'config'));
        const settings = parsed.issues.map((issue) => String(issue.path?.[0].key));
        const message = `Invalid settings for ${adapter.id}: ${errors.join('; ')}`;
        throw new GatewayError('invalid_config', { message, errors, settings });
      }
      const settings = parsed.output;
      const customHost = given.custom_host;
      const base = options.parseBaseUrl(
        typeof customHost === 'string' && customHost !== '' ? customHost : adapter.baseUrl(settings),
      );
      const own = withoutEmpty(adapter.headers(settings, credentials));
      const headers = withHeaders(own, customHeaders);
      refuseOtherCharacters(adapter, slug, own, credentials, customHeaders ?? {});
      const made = { adapter, slug, settings, credentials, origin: base.origin, basePath: base.path, headers, ofModel: null };
      if (!customHeaders || !Object.keys(customHeaders).some(isCredentialHeader)) return made;
      return { ...made, headersElsewhere: withHeaders(own, withoutCredentials(customHeaders)) };
    },
  };
}

/**
 * Throws `invalid_config` naming each credential and custom header that no header can have as its value. Never repeats a value. Inline
 * and saved values are checked earlier; values of secret managers and of rows of older versions are not.
 */
function refuseOtherCharacters(
  { id, headerSecrets = [] }: ProviderAdapter,
  slug: string | null,
  own: HeaderList,
  credentials: Credentials,
  customHeaders: Readonly<Record<string, string>>,
): void {
  const isUnfit = (value: string): boolean => !headerValuePattern.test(value);
  const unfit = own.filter(isUnfit);
  const secrets = Object.keys(credentials).filter((name) => {
    const value = credentials[name]?.reveal() ?? '';
    return isUnfit(value) && (headerSecrets.includes(name) || unfit.some((header) => header.includes(value)));
  });
  const custom = Object.keys(customHeaders).filter((name) => isUnfit(customHeaders[name] as string));
  const settings = [...secrets, ...custom.map((name) => `custom_headers.${name}`)];
  if (settings.length === 0 && unfit.length === 0) return;
  const errors = (settings.length > 0 ? settings : ['a setting']).map((name) => `${name}: ${notHeaderValue}`);
  const message = `${slug === null ? `Invalid settings for ${id}` : `@${slug}`}: ${errors.join('; ')}`;
  throw new GatewayError('invalid_config', { message, errors, settings });
}

/** Removes headers without a credential. One that must not be sent to this host is an empty text, in `authorization` behind its scheme. */
function withoutEmpty(headers: HeaderList): HeaderList {
  const filled: HeaderList = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    const isEmpty = name === 'authorization' ? /^(Bearer|Basic|Key|Token)?\s*$/i.test(value) : value.trim() === '';
    if (!isEmpty) filled.push(name, value);
  }
  return filled;
}

function withHeaders(own: HeaderList, custom: Readonly<Record<string, string>> | null): HeaderList {
  const added = Object.entries(custom ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const);
  const replaced = new Set(added.map(([name]) => name));
  const headers: HeaderList = [];
  for (let i = 0; i < own.length; i += 2) {
    if (!replaced.has(own[i] as string)) headers.push(own[i] as string, own[i + 1] as string);
  }
  for (const [name, value] of added) headers.push(name, value);
  return headers;
}
