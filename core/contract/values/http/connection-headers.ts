/**
 * Returns true for headers that end at this hop (RFC 9110 §7.6.1). The name is in lower case. Lengths are compared first, because for nearly
 * every header the length alone rules out a match.
 */
export function isHopByHop(name: string): boolean {
  switch (name.length) {
    case 2:
      return name === 'te';
    case 7:
      return name === 'trailer' || name === 'upgrade';
    case 10:
      return name === 'connection' || name === 'keep-alive';
    case 16:
      return name === 'proxy-connection';
    case 17:
      return name === 'transfer-encoding';
    case 18:
      return name === 'proxy-authenticate';
    case 19:
      return name === 'proxy-authorization';
    default:
      return false;
  }
}

/** Returns true for headers of a request that the transport writes itself or that end at this hop. The name is in lower case. */
export function isConnectionHeader(name: string): boolean {
  switch (name.length) {
    case 4:
      return name === 'host';
    case 6:
      return name === 'expect';
    case 14:
      return name === 'content-length';
    default:
      return isHopByHop(name);
  }
}

const routing =
  /^(?:proxy-.*|metadata|metadata-flavor|x-aws-ec2-metadata-token.*|x-google-metadata-request|x-identity-header|x-forwarded-host|x-original-url|x-rewrite-url)$/;

/**
 * Returns true for headers that no caller may have sent to another host: those about one connection, and those that address a metadata service
 * or an internal router. The name is in lower case.
 */
export function isUnforwardedHeader(name: string): boolean {
  return isConnectionHeader(name) || routing.test(name);
}
