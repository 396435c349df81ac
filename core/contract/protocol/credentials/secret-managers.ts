import type { Credentials } from '../../provider/provider.ts';
import type { JsonObject } from '../../values/json/json.ts';
import type { Maybe } from '../../values/maybe.ts';
import type { MappedSecretDocument } from './secret-reference.ts';

/**
 * Values that secret managers return for one provider document, by config name. The object stays the same until a value changes.
 */
export interface MappedValues {
  readonly credentials: Credentials;
  readonly settings: Readonly<JsonObject>;
}

/** A document with values in secret managers. */
export interface MappedDocument {
  readonly organisationId: string;
  readonly slug: string;
  readonly mappedSecrets?: readonly MappedSecretDocument[] | undefined;
}

/** Reads the values of `mappedSecrets` of a document. */
export interface SecretManagers {
  /**
   * Returns all values of a document, at once if they are in memory. Throws (or rejects with) GatewayError `secret_unavailable`
   * naming provider, target and reference if one of them is unavailable.
   */
  valuesOf(document: MappedDocument): Maybe<MappedValues>;
  /**
   * Reads values again after a provider rejected them, at most once in ten seconds for each reference. Resolves with true if the
   * values now differ from `used`. Never rejects.
   */
  renew(document: MappedDocument, used: MappedValues): Promise<boolean>;
  /**
   * Reads the managers now, ignoring values in memory. Returns one entry for each mapping, in order: null if its value is
   * available, else the reason, for the administrators of the reference. Never rejects.
   */
  check(document: MappedDocument): Promise<readonly (string | null)[]>;
}
