/** Maximum length of a redirect URI in characters. */
const lengthMax = 2_048;

/** Returns the reason why clients cannot use this redirect URI; null if they can: https, or http to this machine (RFC 8252). */
export function redirectUriIssue(text: string): string | null {
  if (text.length > lengthMax) return `at most ${lengthMax} characters`;
  if (/[\s\\*#]/.test(text) || /[^\x21-\x7e]/.test(text)) return 'must not have spaces, backslashes, wildcards or a fragment';
  const url = URL.parse(text);
  if (url === null) return 'must be a URL';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password';
  if (url.protocol === 'https:') return null;
  return url.protocol === 'http:' && isLoopback(url) ? null : 'must begin with https://, or with http:// and a loopback host';
}

/** True if the request may use this redirect URI: a registered one, or one that differs in the port of a loopback host only. */
export function isRegistered(registered: readonly string[], sent: string): boolean {
  if (redirectUriIssue(sent) !== null) return false;
  return registered.some((one) => one === sent || (withoutPort(one) !== null && withoutPort(one) === withoutPort(sent)));
}

/** True for the hosts of native clients (RFC 8252, section 7.3), and for `localhost`, which many of them use. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/** Returns the text of a loopback URI without its port; null for all others. Other spellings of the host and of the path are other URIs. */
function withoutPort(text: string): string | null {
  const parts = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?(?=[/?]|$)(.*)$/.exec(text);
  return parts && `${parts[1]}${parts[2]}`;
}
