/** A path of this service. Anything that a browser could read as another host is refused. */
const ownPath = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,2047}$/;

/** Returns the page to open after the sign-in: the wanted path if it is one of this service, else the account page. */
export function nextPage(wanted: string | undefined): string {
  return wanted !== undefined && ownPath.test(wanted) ? wanted : '/v1/auth/account';
}
