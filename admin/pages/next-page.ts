import * as v from 'valibot';
import { returnTo } from '../identity/schema.ts';

/** Returns the page to open after the sign-in: the wanted path if it is one of this service, else the account page. */
export function nextPage(wanted: string | undefined): string {
  return v.is(returnTo, wanted) ? wanted : '/v1/auth/account';
}
