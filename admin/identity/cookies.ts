import type { Settings } from '../../config/settings.ts';

type Names = Pick<Settings, 'publicUrl'>;

/**
 * With TLS a cookie has the `__Host-` prefix, so that the browser itself prevents other hosts and paths from setting it (RFC 6265bis
 * §4.1.3).
 */
function nameOf(name: string, settings: Names): string {
  return isSecure(settings) ? `__Host-${name}` : name;
}

/** Returns the value of a cookie of this service in the `cookie` header of a request, else null. */
export function readCookie(header: string | undefined, name: string, settings: Names): string | null {
  const prefix = `${nameOf(name, settings)}=`;
  for (const pair of header?.split(';') ?? []) {
    const trimmed = pair.trim();
    if (trimmed.startsWith(prefix)) return trimmed.slice(prefix.length);
  }
  return null;
}

/** Returns the `set-cookie` of a cookie that lasts until this time; null removes it. */
export function writeCookie(name: string, value: string, expiresAt: Date | null, settings: Names): string {
  const end = expiresAt === null ? 'Max-Age=0' : `Expires=${expiresAt.toUTCString()}`;
  return `${nameOf(name, settings)}=${value}; ${end}; Path=/; HttpOnly; SameSite=Lax${isSecure(settings) ? '; Secure' : ''}`;
}

function isSecure({ publicUrl }: Names): boolean {
  return publicUrl.startsWith('https:');
}
