import { randomUUID } from 'node:crypto';
import { newId } from '../../../admin/db/new-id.ts';
import { oauthGrants } from '../../../admin/resources/oauth-grants/entity.ts';
import type { Plane } from './plane.ts';

/** Adds an active grant of a user to a client for a new MCP server of the workspace. Returns its id. */
export async function newGrant(plane: Plane, of: { readonly workspaceId: string; readonly userId: string }): Promise<string> {
  const slug = `server-${randomUUID().slice(0, 8)}`;
  const fields = { name: slug, slug, url: 'https://mcp.example.com/mcp', transport: 'http', auth_type: 'none' };
  const made = await plane.ask('POST', '/mcp-integrations', { body: { ...fields, workspace_id: of.workspaceId } });
  const server = { name: slug, slug, workspace_id: of.workspaceId, mcp_integration_id: made.body.id };
  const { body } = await plane.ask('POST', '/mcp-servers', { body: server });
  const em = plane.control.services.database.em();
  const id = newId();
  const later = new Date(Date.now() + 3_600_000);
  em.create(oauthGrants, {
    ...{ id, organisationId: plane.organisationId, ...of, serverId: body.id, clientId: 'client', clientName: 'Client' },
    ...{
      resource: 'https://gateway.example.com/mcp',
      redirectUri: 'https://client.example.com/',
      codeHash: id,
      codeChallenge: '',
    },
    ...{ codeExpiresAt: later, status: 'active', generation: 1, createdAt: new Date(), lastUsedAt: new Date(), expiresAt: later },
  });
  await em.flush();
  return id;
}
