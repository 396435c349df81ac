const keysMax = 50;
/** A token (RFC 9110), except names with a special meaning in JavaScript. */
const key = /^(?!__proto__$)[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;

/**
 * Adds the entries of a W3C `baggage` header (W3C Baggage §3.2) to `into`, decoded and cut to `lengthMax` characters. Tracing
 * libraries add the header on their own, so unreadable entries are skipped instead of rejected.
 */
export function addBaggage(into: Record<string, string>, header: string, lengthMax: number): void {
  let count = 0;
  for (const member of header.split(',')) {
    const [pair = ''] = member.split(';', 1);
    const equals = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, equals)).trim();
    const value = decoded(pair.slice(equals + 1).trim());
    if (!key.test(name) || value === null) continue;
    if (++count > keysMax) return;
    into[name] = value.slice(0, lengthMax);
  }
}

function decoded(text: string): string | null {
  try {
    const value = decodeURIComponent(text);
    return /\p{Cc}/u.test(value) ? null : value;
  } catch {
    return null;
  }
}
