import * as v from 'valibot';
import { returnTo } from '../identity/schema.ts';
import { readReturnTo } from '../identity/sign-in-redirect.ts';

/** Returns the page to open after the sign-in: the wanted path if it is one of this service, else the account page. */
export function nextPage(wanted: string | undefined): string {
  const path = readReturnTo(wanted);
  return v.is(returnTo, path) ? path : '/v1/auth/account';
}
