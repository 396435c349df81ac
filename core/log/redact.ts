import { maskCredentials } from '../contract/values/text/mask-credentials.ts';

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
  'encryptionKeyPrevious',
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

/** Credentials of headers. Log lines are not prose, so that shorter ones than in contents are masked. */
const headerCredential = /\b(Bearer|Basic) [A-Za-z0-9._~+/=-]{8,}/gi;

/** The second filter: secrets by their pattern, anywhere in a line. */
export function redactText(line: string): string {
  return maskCredentials(line.replace(headerCredential, '$1 ***'));
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
