import { createHmac } from 'node:crypto';
import * as v from 'valibot';
import { equalDigests } from '../../values/credentials/equal-digests.ts';

/**
 * Credentials of OAuth clients of MCP servers. Each names its grant, and an HMAC with a key derived from CLUSTER_KEY proves it, so that nothing of
 * it is stored. The grant's document decides what an access token allows, and ends it.
 *
 * - access token: `svc_oauth_<grant id>_<expiry in seconds since the epoch>_<HMAC>`
 * - refresh token: `svc_refresh_<grant id>_<generation>_<HMAC>`
 */
type Kind = 'oauth' | 'refresh';
const pattern = /^svc_(oauth|refresh)_([0-9a-f]{32})_(\d{1,12})_([A-Za-z0-9_-]{43})$/;

/** True for a text in the form of an access token. */
export function isOAuthToken(text: string): boolean {
  return text.startsWith('svc_oauth_');
}

/** Returns an access token (`value`: expiry in seconds) or a refresh token (`value`: its generation) of a grant. */
export function newOAuthToken(key: Uint8Array, kind: Kind, grantId: string, value: number): string {
  const id = grantId.replaceAll('-', '');
  return `svc_${kind}_${id}_${value}_${digest(key, kind, id, String(value))}`;
}

/** Returns grant and value of a token; null if it is forged or of another kind. Does not check the expiry. */
export function readOAuthToken(
  key: Uint8Array,
  kind: Kind,
  text: string,
): { readonly grantId: string; readonly value: number } | null {
  const [, found, id = '', value = '', given = ''] = pattern.exec(text) ?? [];
  if (found !== kind || !equalDigests(digest(key, kind, id, value), given)) return null;
  return { grantId: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), value: Number(value) };
}

function digest(key: Uint8Array, kind: Kind, id: string, value: string): string {
  return createHmac('sha256', key).update(`${kind}_${id}_${value}`).digest('base64url');
}

/** A grant of a user to a client for one MCP server. Revoked grants, and those of users without access, have no document. */
export const oauthGrantDocument = v.object({
  id: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  serverId: v.string(),
  userId: v.string(),
  userName: v.string(),
  clientId: v.string(),
  scopes: v.array(v.string()),
});
export type OAuthGrantDocument = v.InferOutput<typeof oauthGrantDocument>;

/** The only scope: calls of the MCP server. */
export const oauthScope = 'mcp.invoke';
