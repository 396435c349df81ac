const framing =
  'host|content-length|transfer-encoding|expect|connection|keep-alive|te|trailer|upgrade|proxy-authorization|proxy-authenticate|proxy-connection';
const routing =
  'metadata|metadata-flavor|x-aws-ec2-metadata-token.*|x-google-metadata-request|x-identity-header|x-forwarded-host|x-original-url|x-rewrite-url';

const framingPattern = new RegExp(`^(?:${framing})$`);
const unforwardedPattern = new RegExp(`^(?:${framing}|proxy-.*|${routing})$`);

/** True for headers about one connection: framing and hop-by-hop. The name is in lower case. */
export function isFramingHeader(name: string): boolean {
  return framingPattern.test(name);
}

/**
 * True for headers that no caller may have sent to another host: those about one connection, and those that address a metadata service or
 * an internal router. The name is in lower case.
 */
export function isUnforwardedHeader(name: string): boolean {
  return unforwardedPattern.test(name);
}
