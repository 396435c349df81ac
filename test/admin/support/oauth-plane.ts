import { expect } from 'vitest';
import { mcpConnections } from '../../../admin/resources/mcp-connections/entity.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { mcpTokenContext } from '../../../core/contract/protocol/mcp/mcp-connection.ts';
import { deriveKey, unseal } from '../../../core/contract/values/credentials/secret.ts';
import { startOAuthUpstream } from '../../support/tool-servers/oauth-upstream.ts';
import { startPlaneWithGateway } from './plane-gateway.ts';

/** The client of `client_credentials` that the authorisation server has registered. */
export const machine = { client_id: 'machine', client_secret: 'secret-of-the-machine-client' };

export type OAuthPlane = Awaited<ReturnType<typeof startOAuthPlane>>;

/** Starts a control plane with an MCP server that needs OAuth. */
export async function startOAuthPlane(database: Parameters<typeof startPlaneWithGateway>[0]) {
  const grants = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
  const upstream = await startOAuthUpstream({ clients: [{ ...machine, ...grants, scope: 'mcp admin' }] });
  const plane = await startPlaneWithGateway(database, { TRUSTED_CUSTOM_HOSTS: '127.0.0.1' });
  // The callback arrives at the control plane itself, because no gateway forwards here.
  (plane.settings as { publicUrl: string }).publicUrl = plane.url;

  async function addServer(slug: string, fields: object): Promise<string> {
    const sent = {
      name: slug,
      slug,
      url: upstream.url,
      transport: 'http',
      auth_type: 'oauth_auto',
      workspace_id: plane.workspaceId,
    };
    const made = await plane.ask('POST', '/mcp-integrations', { body: { ...sent, ...fields } });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const body = { name: slug, slug, workspace_id: plane.workspaceId, mcp_integration_id: made.body.id };
    return (await plane.ask('POST', '/mcp-servers', { body })).body.id;
  }

  /** The reply to a gateway that needs a token of a user, or of the server itself if `userId` is null. */
  const tokenFor = async (
    serverId: string,
    userId: string | null,
    rejected: string | null = null,
    scope?: string,
    isInvalid?: boolean,
  ) => (await plane.internal('POST', '/mcp-tokens', { serverId, userId, rejected, scope, isInvalid })).body;
  const plain = (document: { id: string; tokenId: string; token: string }) =>
    unseal(deriveKey(plane.settings.clusterKey, keyPurposes.transport), document.token, mcpTokenContext(document)).toString();
  const expire = (serverId: string, userId: string | null) =>
    plane.control.services.database.em().nativeUpdate(mcpConnections, { serverId, userId }, { expiresAt: new Date(0) });
  const close = async () => {
    await plane.close();
    await upstream.close();
  };
  return { plane, upstream, addServer, tokenFor, plain, expire, close };
}
