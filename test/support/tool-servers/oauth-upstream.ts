import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type McpUpstream, startMcpUpstream } from './mcp-upstream.ts';

/** An MCP server with OAuth: the server of the official SDK behind `oidc-provider`. */
export interface OAuthUpstream extends McpUpstream {
  readonly issuer: string;
  /** Account that signs in and consents at the next visit. */
  account: string;
  /** Bodies of the requests to the token endpoint. */
  readonly tokenRequests: URLSearchParams[];
  /** Replies to the next requests to the authorisation server instead of it, as long as it is set. Returns false to let it reply. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>) | null;
  /** Account of each request that reached the MCP server, in the order of arrival. */
  readonly accounts: string[];
  /** Members that replace those of the metadata of the MCP server and of the authorisation server. */
  alter: { resource: object | null; metadata: object | null };
  /** Returns the account of an access token; undefined for unknown tokens. */
  accountOf(token: string): Promise<string | undefined>;
  /** Returns the scopes of an access token, separated by spaces; undefined for unknown tokens. */
  scopeOf(token: string): Promise<string | undefined>;
  /** Ends an access token. */
  revoke(token: string): Promise<void>;
}

const s256 = { code_challenge_methods_supported: ['S256'] };

interface Options {
  readonly registers?: boolean;
  readonly clients?: readonly object[];
}

/** Without a key of its own the package warns at each start. */
function signingKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'test' };
}

// biome-ignore lint/suspicious/noExplicitAny: the package has no types
type Untyped = any;

export async function startOAuthUpstream(options: Options = {}): Promise<OAuthUpstream> {
  const { default: Provider } = (await import('oidc-provider' as string)) as Untyped;
  const tokenRequests: URLSearchParams[] = [];
  const accounts: string[] = [];
  let provider: Untyped;

  const mcp = await startMcpUpstream({
    showsCredential: true,
    async authorise(request) {
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
      const known = token && ((await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token)));
      if (known && [known.aud].flat().includes(mcp.url)) {
        accounts.push(known.accountId ?? `client ${known.clientId}`);
        return null;
      }
      return `Bearer resource_metadata="${new URL(mcp.url).origin}/.well-known/oauth-protected-resource/mcp"`;
    },
    page: (path) =>
      path === '/.well-known/oauth-protected-resource/mcp'
        ? { resource: mcp.url, authorization_servers: [upstream.issuer], scopes_supported: ['mcp'], ...upstream.alter.resource }
        : null,
  });

  const http = createServer((request, response) => void serve(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  provider = new Provider(issuer, {
    clients: options.clients ?? [],
    scopes: ['openid', 'offline_access', 'mcp', 'admin'],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: options.registers ?? true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          ...{ scope: 'mcp admin', audience, accessTokenFormat: 'opaque', accessTokenTTL: 600 },
        }),
      },
    },
    ttl: { Interaction: 600, Session: 600, Grant: 3_600, AccessToken: 600, RefreshToken: 3_600, ClientCredentials: 600 },
    jwks: { keys: [signingKey()] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    cookies: { keys: ['test'] },
  });
  provider.proxy = false;
  const handle = provider.callback();
  const upstream: OAuthUpstream = Object.assign(mcp, {
    issuer,
    account: 'ada',
    tokenRequests,
    accounts,
    intercept: null,
    alter: { resource: null, metadata: null },
    accountOf: async (token: string) => (await provider.AccessToken.find(token))?.accountId,
    scopeOf: async (token: string) =>
      ((await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token)))?.scope,
    async revoke(token: string) {
      await (await provider.AccessToken.find(token))?.destroy();
    },
    close: closeBoth(mcp.close.bind(mcp)),
  });
  return upstream;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await upstream.intercept?.(request, response)) return;
    if (upstream.alter.metadata && request.url?.startsWith('/.well-known/')) {
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        ...s256,
        ...upstream.alter.metadata,
      };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
      return;
    }
    if (request.url?.startsWith('/interaction/')) return interact(request, response);
    if (request.url === '/token') request.on('data', (chunk: Buffer) => tokenRequests.push(new URLSearchParams(String(chunk))));
    handle(request, response);
  }

  /** Signs the account in and consents to everything. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (prompt.name === 'login') {
      await provider.interactionFinished(request, response, { login: { accountId: upstream.account } });
      return;
    }
    const grant = grantId
      ? await provider.Grant.find(grantId)
      : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
    for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
      grant.addResourceScope(resource, (scopes as string[]).join(' '));
    }
    const result = { consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  }

  function closeBoth(closeMcp: () => Promise<void>): () => Promise<void> {
    return async () => {
      http.closeAllConnections();
      http.close();
      await closeMcp();
    };
  }
}

/** Follows redirects like a browser, with cookies by host, until a reply is no redirect or `stopAt` accepts its address. */
export async function browse(
  address: string,
  cookies: Record<string, string> = {},
  stopAt: (address: string) => boolean = () => false,
): Promise<{ readonly status: number; readonly address: string; readonly text: string; readonly headers: Headers }> {
  const jar = new Map<string, Map<string, string>>();
  const jarOf = (url: string) => {
    const { host } = new URL(url);
    if (!jar.has(host)) jar.set(host, new Map());
    return jar.get(host) as Map<string, string>;
  };
  for (const [name, value] of Object.entries(cookies)) jarOf(address).set(name, value);
  for (let steps = 0; steps < 20; steps++) {
    const cookie = [...jarOf(address)].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await fetch(address, { redirect: 'manual', headers: { cookie, 'sec-fetch-site': 'cross-site' } });
    for (const set of reply.headers.getSetCookie()) {
      const [name = '', ...value] = (set.split(';', 1)[0] as string).split('=');
      jarOf(address).set(name, value.join('='));
    }
    const location = reply.headers.get('location');
    const text = await reply.text();
    if (reply.status < 300 || reply.status >= 400 || location === null)
      return { status: reply.status, address, text, headers: reply.headers };
    const next = new URL(location, address).href;
    if (stopAt(next)) return { status: reply.status, address: next, text: '', headers: reply.headers };
    address = next;
  }
  throw new Error(`too many redirects: ${address}`);
}
