/** Returns the value of an `authorization` header for `name:password` (RFC 7617). */
export function basicCredentials(pair: string): string {
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/**
 * Returns the value of an `authorization` header for a client of OAuth, whose id and secret are form-encoded first (RFC 6749 §2.3.1).
 * Unreserved characters such as `-` stay as they are.
 */
export function basicClientCredentials(id: string, secret: string): string {
  return basicCredentials(`${formEncoded(id)}:${formEncoded(secret)}`);
}

function formEncoded(text: string): string {
  return new URLSearchParams({ a: text }).toString().slice(2);
}
