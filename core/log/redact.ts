import { maskJwts, maskPasswords } from '../contract/values/text/mask-tokens.ts';

/** Field names whose value is never printed, at the top of a line's fields and up to three levels below. */
const secretNames = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'api_key',
  'apiKey',
  'key',
  'secret',
  'secrets',
  'client_secret',
  'clientSecret',
  'password',
  'passphrase',
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'credential',
  'credentials',
  'encryptionKey',
  'clusterKey',
  'databaseUrl',
  'natsUrl',
];

/** Returns paths in pino's form. `headerPrefixes` adds the gateway's own key header with each prefix. */
export function redactPaths(headerPrefixes: readonly string[]): string[] {
  const names = [...secretNames, ...headerPrefixes.map((prefix) => `${prefix}api-key`)];
  return names.flatMap((name) => {
    const quoted = `["${name}"]`;
    return [quoted, `*${quoted}`, `*.*${quoted}`, `*.*.*${quoted}`];
  });
}

/**
 * Keys of this service keep their public part. Text after `Bearer`, and text that looks like a provider's key or a token, is
 * removed.
 */
const secretLooks: readonly (readonly [RegExp, string])[] = [
  [/svc_(admin|ws|user)_([0-9A-Za-z]{12})_[0-9A-Za-z]{16,}/g, 'svc_$1_$2_***'],
  [/\bek_[A-Za-z0-9_-]{16,}/g, 'ek_***'],
  [/\b(Bearer|Basic) [A-Za-z0-9._~+/=-]{8,}/gi, '$1 ***'],
  [/\b((?:sk|pk|rk|gsk|xai|pplx|r8|ghp|hf)[-_]|AIza|AKIA|ASIA)[A-Za-z0-9_-]{16,}/g, '$1***'],
];

/** The second filter: secrets by their pattern, anywhere in a line. */
export function redactText(line: string): string {
  let text = line;
  for (const [look, instead] of secretLooks) text = text.replace(look, instead);
  return maskPasswords(maskJwts(text, '***'), '***');
}

/**
 * JSON escapes the control characters below U+0020. Terminals also obey DEL, C1 and the bidirectional and line marks. The last
 * newline stays.
 */
export function escapeControls(line: string): string {
  return line.replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (mark) => {
    return `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
