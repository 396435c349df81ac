import type { Identity, RequestContext } from '../../contract/plugin/context.ts';
import type { IdentityForwarding } from '../../contract/protocol/mcp/mcp.ts';
import { asciiJson } from '../../contract/values/json/ascii-json.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import type { ServerSettings } from '../server/server-settings.ts';

/** Signs claims for an audience. Rejects with GatewayError `unavailable` if the key cannot be read. */
export type SignIdentity = (claims: JsonObject, audience: string, expirySeconds: number) => Promise<string>;

/** The claims that are sent if the integration names none. */
const usualClaims = ['sub', 'email', 'username', 'user_id', 'workspace_id', 'organisation_id', 'scope', 'client_id'];

/**
 * Returns the settings of the server with a header that states who calls, if the integration asks for one. It replaces headers of the same
 * name.
 */
export async function withIdentity(ctx: RequestContext, server: ServerSettings, sign: SignIdentity): Promise<ServerSettings> {
  const { identity } = server.document;
  if (!identity) return server;
  const value = await headerOf(claimsOf(ctx.identity as Identity, identity, server.externalClaims), identity, server, sign);
  return { ...server, headers: { ...server.headers, [identity.header]: value } };
}

async function headerOf(
  claims: JsonObject,
  { method, expirySeconds }: IdentityForwarding,
  { origin, path }: ServerSettings,
  sign: SignIdentity,
): Promise<string> {
  if (method === 'claims_header') return asciiJson(claims);
  const token = await sign(claims, `${origin}${path.split('?')[0]}`, expirySeconds);
  return method === 'bearer' ? `Bearer ${token}` : token;
}

/** Claims of an external token describe the person; those of the gateway cannot be replaced by them. */
function claimsOf(identity: Identity, { claims: named }: IdentityForwarding, external: JsonObject | null): JsonObject {
  const all: JsonObject = { ...external, ...ownClaims(identity, external) };
  const names = named ?? usualClaims;
  return Object.fromEntries(names.flatMap((name) => (all[name] === undefined || all[name] === null ? [] : [[name, all[name]]])));
}

/** Claims about the credential of the request. A key without a user is its own subject. */
function ownClaims(
  { keyId, userId, userName, tokenSubject, workspaceId, organisationId, scopes }: Identity,
  external: JsonObject | null,
) {
  const person =
    external === null
      ? {
          sub: userId ?? tokenSubject ?? keyId,
          email: tokenSubject?.includes('@') ? tokenSubject : undefined,
          username: userName ?? tokenSubject ?? undefined,
          scope: [...scopes].filter((one) => one.startsWith('mcp')).join(' '),
        }
      : {};
  return {
    ...person,
    user_id: userId ?? undefined,
    workspace_id: workspaceId,
    organisation_id: organisationId,
    client_id: keyId,
  };
}
