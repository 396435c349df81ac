import type { CallAddress, ParseUrl } from '../contract/values/addresses/call-address.ts';
import { checkOutboundUrl } from '../contract/values/addresses/outbound-url.ts';
import type { TrustedHosts } from '../contract/values/addresses/trusted-hosts.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { mockOrigin } from '../providers/mock/index.ts';

/** Parsers of the URLs that may be called. They check the text; the connector checks the resolved addresses. */
export interface OutboundParsers {
  readonly parseBaseUrl: ParseUrl;
  /** Parses a URL that is called unchanged, with its query and its trailing slash. */
  readonly parseTokenUrl: ParseUrl;
  /** Returns the reason why a caller's host is refused; null if it is allowed. */
  checkCustomHost(url: string): string | null;
  /** Checks a URL that is called unchanged. */
  checkServiceUrl(url: string): string | null;
}

/** Checks URLs by their text alone. The connector checks the address when it connects. */
export function outboundParsers(trusted: TrustedHosts): OutboundParsers {
  return {
    parseBaseUrl: (url) => (url === mockOrigin ? { origin: mockOrigin, path: '' } : parse(url, false)),
    parseTokenUrl(url) {
      const { origin } = parse(url, true);
      const [, path = ''] = /^[a-z]+:\/\/[^/?]*(.*)$/i.exec(url) ?? [];
      return { origin, path: path.startsWith('/') ? path : `/${path}` };
    },
    checkCustomHost: (url) => reasonOf(url, false),
    checkServiceUrl: (url) => reasonOf(url, true),
  };

  function reasonOf(url: string, allowQuery: boolean): string | null {
    const check = checkOutboundUrl(url, { trusted, allowQuery });
    return check.ok ? null : check.reason;
  }

  function parse(url: string, allowQuery: boolean): CallAddress {
    const check = checkOutboundUrl(url, { trusted, allowQuery });
    if (check.ok) return { origin: check.url.origin, path: check.url.basePath + check.url.query };
    throw new GatewayError('invalid_custom_host', { message: `Invalid custom host: ${check.reason}`, param: 'custom_host' });
  }
}
