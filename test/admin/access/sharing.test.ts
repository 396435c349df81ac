import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

const mcp = { url: 'https://mcp.example.com/mcp', transport: 'http', auth_type: 'none' };

describe.each(ruleDatabases)('an integration of an organisation, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('MCP: is usable in the workspaces that it is shared with, and in no other', async () => {
    const key = await plane.newKey(['workspace_mcp_integrations.read', 'organisation_mcp_integrations.list']);
    const other = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Other', slug: 'other' } })).body.id;
    const { id } = (await plane.ask('POST', '/mcp-integrations', { body: { name: 'Issues', slug: 'issues', ...mcp } })).body;
    const share = (workspace: string, enabled: boolean) =>
      plane.ask('PUT', `/mcp-integrations/${id}/workspaces`, {
        body: { workspaces: [{ id: workspace, enabled }], global_workspace_access: { enabled: false } },
      });
    const status = async () => (await plane.ask('GET', `/mcp-integrations/${id}`, { key })).status;
    expect((await share(other, true)).status).toBe(200);
    expect(await status()).toBe(404);
    await share(plane.workspaceId, true);
    await share(other, false);
    expect(await status()).toBe(200);
  });
});
