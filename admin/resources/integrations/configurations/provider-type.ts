import { didYouMean } from '../../../../config/did-you-mean.ts';
import { declarationOf, declarations } from '../../../../core/providers/declarations.ts';

/** All provider types by id, in alphabetical order. */
export const providerTypes: readonly string[] = declarations.map(({ id }) => id);

/** All names that a request may use for a provider type: ids and aliases. */
export const providerNames: readonly string[] = declarations.flatMap(({ id, aliases }) => [id, ...aliases]);

/** True for the id of a provider type, built in or of PROVIDERS. False for its aliases. */
export function isProviderId(id: string): boolean {
  return declarationOf(id) !== null;
}

/** Returns the error text for an unknown provider type, with the id that was probably meant. */
export function unknownProviderType(id: string): string {
  return `no provider type of this name${didYouMean(id, providerTypes)}`;
}
