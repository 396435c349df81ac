import type { KnownPerson } from '../../http/public-route.ts';

/** Returns the sender of a refused request to a connection, or with the state of a sign-in. The addresses of both are not secret. */
export function anyoneAt(row: { readonly organisationId: string } | null): KnownPerson | null {
  return row && { organisationId: row.organisationId, userId: null, isAnonymous: true };
}
