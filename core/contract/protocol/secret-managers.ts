import type { Credentials } from '../provider/provider.ts';
import type { JsonObject, Maybe } from '../values/json.ts';
import type { ProviderDocument } from './documents.ts';

/**
 * Values that secret managers return for one provider document, by config name. The object stays the same until a value changes.
 */
export interface MappedValues {
  readonly credentials: Credentials;
  readonly settings: Readonly<JsonObject>;
}

/** Reads the values of `ProviderDocument.mappedSecrets`. */
export interface SecretManagers {
  /**
   * All values of a document, at once where they are at hand. Throws (or rejects with) GatewayError `secret_unavailable` naming provider,
   * target and reference, when one of them cannot be had.
   */
  valuesOf(document: ProviderDocument): Maybe<MappedValues>;
  /**
   * Reads anew what a provider has refused, at most once in ten seconds for each reference. Resolves with whether there are other
   * values than `used` now. Never rejects.
   */
  renew(document: ProviderDocument, used: MappedValues): Promise<boolean>;
  /**
   * Asks the managers now, whatever is at hand. One entry for each mapping, in order: null where its value can be had, else why not,
   * for those who manage the reference. Never rejects.
   */
  check(document: ProviderDocument): Promise<readonly (string | null)[]>;
}
