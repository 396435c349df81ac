import type { Settings } from '../../config/settings.ts';

type Names = Pick<Settings, 'publicUrl'>;

/**
 * With TLS it has the `__Host-` prefix, so that the browser itself prevents other hosts and paths from setting it (RFC 6265bis
 * §4.1.3).
 */
function nameOf(settings: Names): string {
  return isSecure(settings) ? '__Host-svc_session' : 'svc_session';
}

/** Returns the session token in the cookies of a request, else null. */
export function readSessionCookie(header: string | undefined, settings: Names): string | null {
  const name = `${nameOf(settings)}=`;
  for (const pair of header?.split(';') ?? []) {
    const trimmed = pair.trim();
    if (trimmed.startsWith(name)) return trimmed.slice(name.length);
  }
  return null;
}

/** Returns the `set-cookie` that signs a browser in until this time. */
export function sessionCookie(token: string, expiresAt: Date, settings: Names): string {
  return `${nameOf(settings)}=${token}; Expires=${expiresAt.toUTCString()}; ${attributes(settings)}`;
}

/** Returns the `set-cookie` that signs it out. */
export function endedCookie(settings: Names): string {
  return `${nameOf(settings)}=; Max-Age=0; ${attributes(settings)}`;
}

function attributes(settings: Names): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure(settings) ? '; Secure' : ''}`;
}

function isSecure({ publicUrl }: Names): boolean {
  return publicUrl.startsWith('https:');
}
