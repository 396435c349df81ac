import type { Settings } from '../../config/settings.ts';
import { ownCookies } from '../../core/contract/values/http/own-cookies.ts';
import { readCookie, writeCookie } from './cookies.ts';

type Names = Pick<Settings, 'publicUrl'>;

const name = ownCookies.session;

/** Returns the session token in the cookies of a request, else null. */
export function readSessionCookie(header: string | undefined, settings: Names): string | null {
  return readCookie(header, name, settings);
}

/** Returns the `set-cookie` that signs a browser in until this time. */
export function sessionCookie(token: string, expiresAt: Date, settings: Names): string {
  return writeCookie(name, token, expiresAt, settings);
}

/** Returns the `set-cookie` that signs it out. */
export function endedCookie(settings: Names): string {
  return writeCookie(name, '', null, settings);
}
