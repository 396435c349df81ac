import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

type Claims = Record<string, unknown>;

interface Grant {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly nonce: string | null;
  readonly challenge: string;
  readonly user: Claims;
}

/** Deviations from a correct provider. Absent ones: correct. */
export interface Lies {
  /** Changes of the provider's metadata. */
  metadata?: Claims;
  /** Changes of the claims of ID tokens; undefined removes a claim. */
  claims?: Claims;
  /** Returns the ID token to send instead. */
  forge?: (claims: Claims, key: CryptoKey) => Promise<string>;
  /** `iss` of the authorization response; null: not sent. */
  responseIssuer?: string | null;
  /** Keys to publish instead. */
  jwks?: readonly JWK[];
  userInfo?: Claims;
  /** Statuses with which paths reply `{}`. */
  statuses?: Readonly<Record<string, number>>;
  /** Does not check the code verifier. */
  ignoresVerifier?: true;
}

/** An OpenID Connect provider whose replies a test decides. */
export interface FakeOidcProvider {
  readonly issuer: string;
  lies: Lies;
  /** Requests to the token endpoint. */
  readonly tokenRequests: { readonly form: URLSearchParams; readonly authorization: string | undefined }[];
  /** Signs a user in at the address that the service returned. Returns the address that the browser is sent back to. */
  authorize(url: string, user: Claims): string;
  /** Replaces the signing key. */
  rotate(): Promise<void>;
  /** Signs claims with the current key. */
  sign(claims: Claims, header?: { readonly alg?: string; readonly typ?: string }): Promise<string>;
  close(): Promise<void>;
}

export async function startFakeOidcProvider(): Promise<FakeOidcProvider> {
  let key = await newKey();
  const grants = new Map<string, Grant>();
  const issued = new Map<string, Claims>();
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const provider: FakeOidcProvider = {
    issuer,
    lies: {},
    tokenRequests: [],
    authorize(url, user) {
      const query = new URL(url).searchParams;
      const code = randomUUID();
      const get = (name: string) => query.get(name) ?? '';
      grants.set(code, {
        clientId: get('client_id'),
        redirectUri: get('redirect_uri'),
        nonce: query.get('nonce'),
        challenge: get('code_challenge'),
        user,
      });
      const { responseIssuer = issuer } = provider.lies;
      const iss = responseIssuer === null ? '' : `&iss=${encodeURIComponent(responseIssuer)}`;
      return `${get('redirect_uri')}?code=${code}&state=${get('state')}${iss}`;
    },
    async rotate() {
      key = await newKey();
    },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header }).sign(key.privateKey),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const status = provider.lies.statuses?.[request.url ?? ''];
    if (status !== undefined) return reply(status, {});
    if (request.url === '/.well-known/openid-configuration') return reply(200, metadata());
    if (request.url === '/jwks') return reply(200, { keys: provider.lies.jwks ?? [key.publicJwk] });
    if (request.url === '/userinfo') {
      const user = issued.get((request.headers.authorization ?? '').replace(/^Bearer /, ''));
      return user ? reply(200, { ...user, ...provider.lies.userInfo }) : reply(401, {});
    }
    if (request.url !== '/token') return reply(404, {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
    provider.tokenRequests.push({ form, authorization: request.headers.authorization });
    const grant = grants.get(form.get('code') ?? '');
    grants.delete(form.get('code') ?? '');
    const verified =
      createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url') === grant?.challenge;
    if (!grant || form.get('redirect_uri') !== grant.redirectUri || !(verified || provider.lies.ignoresVerifier)) {
      return reply(400, { error: 'invalid_grant', error_description: 'the code is not valid' });
    }
    const accessToken = randomUUID();
    issued.set(accessToken, grant.user);
    reply(200, {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 300,
      id_token: await idTokenOf(grant, accessToken),
    });
  }

  async function idTokenOf({ clientId, nonce, user }: Grant, accessToken: string): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const hash = createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url');
    const claims = {
      iss: issuer,
      aud: clientId,
      iat: now,
      exp: now + 300,
      nonce,
      at_hash: hash,
      ...user,
      ...provider.lies.claims,
    };
    return provider.lies.forge ? provider.lies.forge(claims, key.privateKey) : provider.sign(claims);
  }

  function metadata() {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      end_session_endpoint: `${issuer}/logout`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...provider.lies.metadata,
    };
  }

  return provider;
}

async function newKey() {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const kid = randomUUID();
  return { privateKey, kid, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } };
}
