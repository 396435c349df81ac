import type { MappedValues, SecretManagers } from '../../contract/protocol/credentials/secret-managers.ts';
import type { ProviderDocument } from '../../contract/protocol/documents.ts';
import type { Credentials } from '../../contract/provider/provider.ts';
import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import { notHeaderValue } from '../../contract/values/http/http.ts';
import { isPromise, type Maybe } from '../../contract/values/maybe.ts';
import type { ResolvedTarget } from './build-target.ts';

/** Opens the document of a stored provider: its settings and credentials. */
export interface DocumentOpener {
  /** Opens the sealed secrets of the document. */
  openSecrets(document: ProviderDocument): Credentials;
  /** Opens the sealed headers of the document: name to value. */
  openHeaders(document: ProviderDocument): Readonly<Record<string, string>>;
  /** Reads the values of secret managers. Absent: a document that needs them is an internal error. */
  readonly secretManagers?: SecretManagers;
}

export interface OpenDocument {
  /** The settings, including those from secret managers. */
  readonly document: ProviderDocument;
  readonly credentials: Credentials;
  /** Headers of every call, name to value. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A stored provider with all its values. Throws (or rejects with) GatewayError `secret_unavailable`. */
export function openDocument(document: ProviderDocument, opener: DocumentOpener): Maybe<OpenDocument> {
  if (!hasMapped(document)) return withValues(document, null, opener);
  const values = valuesOf(document, opener);
  return isPromise(values) ? values.then((found) => withValues(document, found, opener)) : withValues(document, values, opener);
}

/** Returns true if part of the document comes from a secret manager. */
export function hasMapped({ mappedSecrets }: ProviderDocument): boolean {
  return mappedSecrets !== undefined && mappedSecrets.length > 0;
}

/** Returns the values that secret managers hold for a document. The object stays the same as long as the values do. */
export function valuesOf(document: ProviderDocument, { secretManagers }: DocumentOpener): Maybe<MappedValues> {
  if (secretManagers) return secretManagers.valuesOf(document);
  throw new GatewayError('internal', { detail: 'a document names secret managers where there are none' });
}

/** Returns the document merged with the values of its secret managers (null: there are none). */
export function withValues(document: ProviderDocument, mapped: MappedValues | null, opener: DocumentOpener): OpenDocument {
  const credentials = opener.openSecrets(document);
  const headers = { ...document.customHeaders, ...opener.openHeaders(document) };
  if (mapped === null) return { document, credentials, headers };
  return {
    document: { ...document, settings: { ...document.settings, ...mapped.settings } },
    credentials: { ...credentials, ...mapped.credentials },
    headers,
  };
}

/**
 * Returns the result of `build` for an opened document. An error about a value from a secret manager does not repeat the value,
 * because the message of a check would contain it. Throws GatewayError `secret_unavailable` for these.
 */
export function buildOpened(document: ProviderDocument, build: () => ResolvedTarget): ResolvedTarget {
  if (!hasMapped(document)) return build();
  try {
    return build();
  } catch (thrown) {
    const error = toGatewayError(thrown);
    if (error.code !== 'invalid_config' && error.code !== 'invalid_custom_host') throw error;
    const { settings, errors } = error;
    if (errors?.every((text) => text.endsWith(notHeaderValue))) throw unusable(document, errors.join('; '));
    throw unusable(document, settings.length > 0 ? `invalid values in ${settings.join(', ')}` : 'the settings are invalid');
  }
}

function unusable({ slug, mappedSecrets = [] }: ProviderDocument, what: string): GatewayError {
  const from = mappedSecrets.map((mapped) => `${mapped.target} (${mapped.slug})`).join(', ');
  return new GatewayError('secret_unavailable', { message: `@${slug}: ${what}; from secret references come ${from}` });
}
