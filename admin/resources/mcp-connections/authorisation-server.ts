import * as oauth from 'oauth4webapi';
import * as v from 'valibot';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { OutboundError } from '../../http/gateways/gateway-fetch.ts';
import { OAuthIssue } from './oauth-issue.ts';

interface Sent {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | string | null | undefined;
}

/** Sends requests through a gateway, which checks the addresses. */
export type OAuthFetch = (url: string, sent: Sent) => Promise<Response>;

/** The authorisation server of an MCP server, and what tokens are requested for. */
export interface UpstreamOAuth {
  readonly as: oauth.AuthorizationServer;
  /** Resource indicator (RFC 8707). */
  readonly resource: string;
  /** Scopes that the MCP server asks for; null: it names none. */
  readonly scope: string | null;
}

/** Fixed endpoints of an integration, which replace discovery. */
export interface FixedEndpoints {
  readonly authorization_endpoint?: string | null | undefined;
  readonly token_endpoint?: string | null | undefined;
}

/** Options of every exchange. The gateway decides whether `http:` is allowed, so the library does not. */
export function optionsOf(fetch: OAuthFetch) {
  return { [oauth.customFetch]: fetch, [oauth.allowInsecureRequests]: true } as const;
}

const resourceMetadata = v.object({
  resource: v.string(),
  authorization_servers: v.optional(v.array(v.string())),
  scopes_supported: v.optional(v.array(v.string())),
});

/**
 * Finds the authorisation server of the MCP server at `url`: by its 401, by its well-known metadata (RFC 9728), else at its own origin
 * as in the revision 2025-03-26. Throws OAuthIssue.
 */
export async function findAuthorisationServer(fetch: OAuthFetch, url: string, fixed: FixedEndpoints): Promise<UpstreamOAuth> {
  const { authorization_endpoint, token_endpoint } = fixed;
  if (authorization_endpoint && token_endpoint) {
    const as = { issuer: new URL(authorization_endpoint).origin, authorization_endpoint, token_endpoint };
    return { as, resource: withoutFragment(url), scope: null };
  }
  const challenge = await readChallenge(fetch, url);
  const metadata = await readResourceMetadata(fetch, url, challenge.metadataUrl);
  const issuer = metadata?.authorization_servers?.[0] ?? new URL(url).origin;
  const as = await readServerMetadata(fetch, issuer, metadata === null);
  const scopes = metadata?.scopes_supported;
  return {
    as,
    resource: metadata?.resource ?? withoutFragment(url),
    scope: challenge.scope ?? (scopes?.length ? scopes.join(' ') : null),
  };
}

interface Challenge {
  readonly metadataUrl: string | null;
  readonly scope: string | null;
}

async function readChallenge(fetch: OAuthFetch, url: string): Promise<Challenge> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'svc-gateway', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const reply = await exchange(fetch, url, { method: 'POST', headers, body });
  const header = reply.status === 401 || reply.status === 403 ? (reply.headers.get('www-authenticate') ?? '') : '';
  const parameter = (name: string) => new RegExp(`[ ,]${name}="([^"]*)"`, 'i').exec(header)?.[1] || null;
  return { metadataUrl: parameter('resource_metadata'), scope: parameter('scope') };
}

/** Returns null if the server has no metadata. Throws OAuthIssue if it names another resource. */
async function readResourceMetadata(fetch: OAuthFetch, url: string, named: string | null) {
  const { origin, pathname } = new URL(url);
  const known = '/.well-known/oauth-protected-resource';
  const addresses =
    named !== null ? [named] : [...(pathname === '/' ? [] : [`${origin}${known}${pathname}`]), `${origin}${known}`];
  for (const address of addresses) {
    const found = await readJson(fetch, address);
    if (found === null) continue;
    const parsed = v.safeParse(resourceMetadata, found);
    if (!parsed.success) throw new OAuthIssue(`the resource metadata at ${address} is not valid`);
    if (!covers(parsed.output.resource, url)) {
      throw new OAuthIssue(`the resource metadata at ${address} is for another resource than ${withoutFragment(url)}`);
    }
    return parsed.output;
  }
  return null;
}

/** True if a token for this resource is one for the URL: the same origin, and a path above or at that of the URL. */
function covers(resource: string, url: string): boolean {
  const [one, other] = [URL.parse(resource), new URL(url)];
  if (one === null || one.origin !== other.origin) return false;
  const below = (path: string) => (path.endsWith('/') ? path : `${path}/`);
  return below(other.pathname).startsWith(below(one.pathname));
}

/** `mayGuess`: without metadata, the endpoints of the revision 2025-03-26 are used. */
async function readServerMetadata(fetch: OAuthFetch, issuer: string, mayGuess: boolean): Promise<oauth.AuthorizationServer> {
  const parsed = URL.parse(issuer);
  if (parsed === null) throw new OAuthIssue('the MCP server names an authorisation server that is not a URL');
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    const response = await oauth.discoveryRequest(parsed, { algorithm, ...optionsOf(fetch) }).catch(rethrow);
    if (response.status !== 200) continue;
    try {
      return requireSafe(await oauth.processDiscoveryResponse(parsed, response));
    } catch (thrown) {
      if (thrown instanceof OAuthIssue) throw thrown;
      throw new OAuthIssue(`the metadata of the authorisation server ${issuer} is not valid`);
    }
  }
  if (!mayGuess) throw new OAuthIssue(`the authorisation server ${issuer} has no metadata`);
  const { origin } = parsed;
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
}

/** A server that does not list S256 may ignore the code challenge. */
function requireSafe(as: oauth.AuthorizationServer): oauth.AuthorizationServer {
  if (!as.code_challenge_methods_supported?.includes('S256')) {
    throw new OAuthIssue(`the authorisation server ${as.issuer} does not support PKCE with S256`);
  }
  return as;
}

async function readJson(fetch: OAuthFetch, url: string): Promise<unknown> {
  const reply = await exchange(fetch, url, { method: 'GET', headers: { accept: 'application/json' } });
  if (reply.status !== 200) return null;
  const body: unknown = await reply.json().catch(() => null);
  return isObject(body) ? body : null;
}

function exchange(fetch: OAuthFetch, url: string, sent: Sent): Promise<Response> {
  return fetch(url, sent).catch(rethrow);
}

function rethrow(thrown: unknown): never {
  throw thrown instanceof OutboundError ? new OAuthIssue(thrown.message) : thrown;
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] as string;
}
