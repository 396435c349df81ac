/** Settings about the gateway's own address. */
export interface AddressRules {
  readonly publicUrl: string;
  /** True if the gateway itself serves TLS. */
  readonly isTls: boolean;
}

/** A host with an optional port (RFC 9110 section 7.2): no userinfo, path or list. */
export const hostPattern = /^(?:[\w.~!$&'()*+;=%-]+|\[[\da-fA-F:.]+\])(?::\d{0,5})?$/;

/** Headers of which a proxy sends at least one. */
const proxyHeaders = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via'] as const;

/**
 * Returns the address at which the caller reached the gateway, without `/` at its end: `https://gateway.example.com`. Empty if a proxy is
 * in front and the scheme is unknown, because a URL with the wrong scheme could send a key in plain text. `isTrusted`: a trusted proxy
 * sent the headers.
 */
export function ownAddress(
  { publicUrl, isTls }: AddressRules,
  header: (name: string) => string | undefined,
  isTrusted: boolean,
): string {
  const host = (isTrusted ? first(header('x-forwarded-host')) : undefined) ?? header('host') ?? '';
  if (!hostPattern.test(host)) return '';
  if (publicUrl.startsWith('https:') && new URL(publicUrl).host === host.toLowerCase().replace(/:443$/, '')) {
    return publicUrl.replace(/\/+$/, '');
  }
  if (!isTrusted && !proxyHeaders.some((name) => header(name) !== undefined)) return `${isTls ? 'https' : 'http'}://${host}`;
  const scheme = isTrusted ? first(header('x-forwarded-proto'))?.toLowerCase() : undefined;
  return scheme === 'http' || scheme === 'https' ? `${scheme}://${host}` : '';
}

/** Returns the value that the proxy next to the caller has set. */
function first(values: string | undefined): string | undefined {
  return values?.split(',', 1)[0]?.trim();
}
