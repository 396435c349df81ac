import type { Settings } from '../../config/settings.ts';

type Names = Pick<Settings, 'publicUrl'>;

/** With TLS the `__Host-` prefix: then the browser itself holds every other host and path off the cookie (RFC 6265bis §4.1.3). */
function nameOf(settings: Names): string {
  return isSecure(settings) ? '__Host-svc_session' : 'svc_session';
}

/** The session token among the cookies of a request, else null. */
export function readSessionCookie(header: string | undefined, settings: Names): string | null {
  const name = `${nameOf(settings)}=`;
  for (const pair of header?.split(';') ?? []) {
    const trimmed = pair.trim();
    if (trimmed.startsWith(name)) return trimmed.slice(name.length);
  }
  return null;
}

/** `set-cookie` that signs a browser in until this time. */
export function sessionCookie(token: string, expiresAt: Date, settings: Names): string {
  return `${nameOf(settings)}=${token}; Expires=${expiresAt.toUTCString()}; ${attributes(settings)}`;
}

/** `set-cookie` that signs it out. */
export function endedCookie(settings: Names): string {
  return `${nameOf(settings)}=; Max-Age=0; ${attributes(settings)}`;
}

function attributes(settings: Names): string {
  return `Path=/; HttpOnly; SameSite=Lax${isSecure(settings) ? '; Secure' : ''}`;
}

function isSecure({ publicUrl }: Names): boolean {
  return publicUrl.startsWith('https:');
}
