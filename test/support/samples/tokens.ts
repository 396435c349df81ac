import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { PublicJwk } from '../../../core/contract/protocol/credentials/key-set.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';

/** A key with which an organisation signs tokens. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly jwk: PublicJwk;
}

let count = 0;

export function newSigningKey(kid = `key-${++count}`, modulusLength = 2048): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength });
  const { n, e } = publicKey.export({ format: 'jwk' }) as { n: string; e: string };
  return { kid, privateKey, jwk: { kty: 'RSA', kid, n, e } };
}

/**
 * Returns a token with these claims, signed by RS256 whatever its header states. Defaults: an hour of life and a random id.
 * Undefined claims are left out.
 */
export function signToken(key: SigningKey, claims: JsonObject, header: JsonObject = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const payload = { iat: now, exp: now + 3600, jti: String(++count), ...claims };
  const input = `${encoded({ alg: 'RS256', typ: 'JWT', kid: key.kid, ...header })}.${encoded(payload)}`;
  return `${input}.${sign('sha256', Buffer.from(input), key.privateKey).toString('base64url')}`;
}

function encoded(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A host that publishes key sets under any path. Tests can make it unreachable. */
export interface KeySetHost {
  /** Without a path. */
  readonly origin: string;
  /** Replies by path. A text is sent unchanged. */
  readonly sets: Map<string, { keys: unknown[] } | string>;
  /** Requested paths, in order. */
  readonly asked: string[];
  /** Status of all replies instead of the normal ones. Null: normal replies. */
  failWith: number | null;
  close(): Promise<void>;
}

/** Listens on 127.0.0.1, with HTTPS if a certificate and its key are given. */
export async function startKeySetHost(tls?: { readonly cert: Buffer; readonly key: Buffer }): Promise<KeySetHost> {
  const sets: KeySetHost['sets'] = new Map();
  const asked: string[] = [];
  const server = (tls ? createTlsServer(tls) : createServer()).on('request', (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const set = sets.get(path);
    const status = host.failWith ?? (set === undefined ? 404 : 200);
    response.writeHead(status, { 'content-type': 'application/json', location: `${host.origin}/elsewhere` });
    response.end(typeof set === 'string' ? set : JSON.stringify(set ?? {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const host: KeySetHost = {
    origin: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    sets,
    asked,
    failWith: null,
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
  return host;
}
