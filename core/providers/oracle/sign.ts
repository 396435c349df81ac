import { createHash, createPrivateKey, type KeyObject, sign as rsaSign } from 'node:crypto';
import type { Credentials, OutgoingCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { findHeader } from '../../contract/values/http/http.ts';

/**
 * Signs a call as a user of Oracle Cloud: RSA-SHA256 over the headers that version 1 of its signature requires
 * (https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm). Throws `invalid_config` naming the missing or invalid
 * setting.
 */
export function signAsUser(call: OutgoingCall, settings: ProviderSettings, credentials: Credentials, nowMs: number): void {
  const keyId = [
    needed(settings, 'oracle_tenancy'),
    needed(settings, 'oracle_user'),
    needed(settings, 'oracle_fingerprint'),
  ].join('/');
  const key = privateKey(credentials);
  const signed: [string, string][] = [
    ['date', new Date(nowMs).toUTCString()],
    ['(request-target)', `${call.method.toLowerCase()} ${call.path}`],
    ['host', new URL(call.origin).host],
  ];
  if (call.method === 'POST' || call.method === 'PUT' || call.method === 'PATCH') {
    const body = call.body ?? new Uint8Array();
    signed.push(
      ['content-length', String(body.length)],
      ['content-type', findHeader(call.headers, 'content-type') ?? 'application/json'],
      ['x-content-sha256', createHash('sha256').update(body).digest('base64')],
    );
  }
  const text = signed.map(([name, value]) => `${name}: ${value}`).join('\n');
  const signature = rsaSign('sha256', Buffer.from(text), key).toString('base64');
  for (const name of ['date', 'x-content-sha256']) {
    const value = signed.find(([header]) => header === name)?.[1];
    if (value !== undefined) call.headers.push(name, value);
  }
  if (call.body && findHeader(call.headers, 'content-type') === undefined) call.headers.push('content-type', 'application/json');
  const headers = signed.map(([name]) => name).join(' ');
  call.headers.push(
    'authorization',
    `Signature version="1",keyId="${keyId}",algorithm="rsa-sha256",headers="${headers}",signature="${signature}"`,
  );
}

/** Keys are parsed once, because parsing takes longer than signing. */
const parsed = new WeakMap<object, KeyObject>();

function privateKey(credentials: Credentials): KeyObject {
  const secret = credentials.oracle_private_key;
  if (secret === undefined) throw missing('oracle_private_key');
  const known = parsed.get(secret);
  if (known) return known;
  try {
    // Header values cannot hold line breaks, so keys may contain `\n` instead.
    const pem = secret.reveal().replaceAll('\\n', '\n');
    const passphrase = credentials.oracle_key_passphrase?.reveal();
    const key = createPrivateKey({ key: pem, format: 'pem', ...(passphrase === undefined ? {} : { passphrase }) });
    parsed.set(secret, key);
    return key;
  } catch {
    // The parser's message may quote the key.
    const message = 'oracle_private_key: not a private key in PEM form, or oracle_key_passphrase does not open it';
    throw new GatewayError('invalid_config', { message, param: 'oracle_private_key' });
  }
}

function needed(settings: ProviderSettings, name: string): string {
  const value = settings[name];
  if (typeof value === 'string' && value !== '') return value;
  throw missing(name);
}

function missing(name: string): GatewayError {
  return new GatewayError('invalid_config', { message: `${name}: required by oracle where there is no api_key`, param: name });
}
