/** Header name to value. */
type Headers = Readonly<Record<string, string>>;

/** Whether the name of a header says that its value is a credential. Errs on the side of yes. */
export function isCredentialHeader(name: string): boolean {
  return pattern.test(name);
}

const pattern = /auth|key|token|secret|cookie|passw|sign|credential|session/i;

/** What of these headers may go to a host that they were not stored for. */
export function withoutCredentials(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredentialHeader(name)));
}
