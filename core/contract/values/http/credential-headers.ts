/** Headers in which a client sends its own provider credential. A stored provider replaces them with its own credential. */
export const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key']);

/** Header name to value. */
type Headers = Readonly<Record<string, string>>;

/** Returns true if the header's name suggests that its value is a credential. In doubt it returns true. */
export function isCredentialHeader(name: string): boolean {
  return pattern.test(name);
}

const pattern = /auth|key|token|secret|cookie|passw|sign|credential|session/i;

/** Returns the headers that may be sent to a host for which they were not stored. */
export function withoutCredentials(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredentialHeader(name)));
}
