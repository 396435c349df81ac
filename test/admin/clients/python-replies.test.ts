import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

let plane: Plane;
beforeAll(async () => {
  plane = await startPlane(ruleDatabase);
});
afterAll(() => plane?.close());

/** The Python client of the known API reads replies with models that reject other types. */
describe('replies with the types of the Python client', () => {
  it('a new workspace has users whose members are texts', async () => {
    const user = (email: string, names: object) =>
      plane.ask('POST', '/admin/users', { body: { email, role: 'member', ...names } });
    const named = (await user('ada@example.com', { first_name: 'Ada', last_name: 'L' })).body.id;
    const unnamed = (await user('eve@example.com', {})).body.id;
    const { status, body } = await plane.ask('POST', '/admin/workspaces', { body: { name: 'New', users: [named, unnamed] } });
    expect(status).toBe(200);
    // Both were added at the same time, so their order is not defined.
    const byEmail = body.users.toSorted((left: { email: string }, right: { email: string }) =>
      left.email.localeCompare(right.email),
    );
    expect(byEmail).toMatchObject([
      { id: named, first_name: 'Ada', last_name: 'L', role: 'member', email: 'ada@example.com' },
      { id: unnamed, role: 'member' },
    ]);
    const types = body.users.flatMap((one: object) => Object.values(one).map((value) => typeof value));
    expect(new Set(types)).toEqual(new Set(['string']));
    const read = await plane.ask('GET', `/admin/workspaces/${body.id}`);
    expect(read.body.users[0].scopes).toContain('configs.read');
  });

  it('metadata of an MCP server without icons has null', async () => {
    const fields = { name: 'Tools', url: 'https://mcp.example.com/mcp', transport: 'http', auth_type: 'none' };
    const { id } = (await plane.ask('POST', '/mcp-integrations', { body: fields })).body;
    const sync = (icons: object) =>
      plane.ask('POST', `/mcp-integrations/${id}/sync`, { body: { server_info: { name: 'Tools', ...icons }, capabilities: [] } });
    const icons = async () => (await plane.ask('GET', `/mcp-integrations/${id}/metadata`)).body.icons;
    expect(await icons()).toBeNull();
    await sync({ icons: [] });
    expect(await icons()).toBeNull();
    await sync({ icons: [{ src: 'https://mcp.example.com/icon.png' }] });
    expect(await icons()).toEqual([{ src: 'https://mcp.example.com/icon.png' }]);
  });
});
