import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPerson } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('audit entries of rejected changes, on %s', (database) => {
  let plane: Plane;
  /** Not the only workspace, so that requests must name it. */
  let workspaceId: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    const { body } = await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } });
    workspaceId = body.id;
    const config = { name: 'a', slug: 'pc-a', workspace_id: 'second', config: { retry: { attempts: 1 } } };
    expect((await plane.ask('POST', '/configs', { body: config })).status).toBe(200);
  });
  afterAll(() => plane?.close());

  it.each([
    ['an id in an invalid body', 'POST', '/configs', () => ({ workspace_id: workspaceId })],
    ['a slug in an invalid body', 'POST', '/configs', () => ({ workspace_id: 'second', wrong: 1 })],
    ['the query', 'PUT', '/configs/pc-a?workspace_id=second', () => ({ wrong: 1 })],
    ['the slug of the item', 'PUT', '/configs/pc-a', () => ({ wrong: 1 })],
    ['the path', 'POST', '/admin/workspaces/second/users', () => ({ wrong: 1 })],
  ])('have the workspace that the request names by %s', async (_, method, path, body) => {
    expect((await plane.ask(method, path, { body: body() })).status).toBe(400);
    expect(await plane.lastAudit()).toMatchObject({ responseStatusCode: 400, workspaceId });
  });

  it.each([
    ['an invalid body', 400, () => ({ body: { wrong: 1 } })],
    ['an outdated version', 412, () => ({ headers: { 'if-match': '"99"' }, body: { name: 'b' } })],
    [
      'a missing scope',
      403,
      async () => ({ key: await plane.newKey(['configs.list'], 'organisation/service'), body: { name: 'b' } }),
    ],
  ])('have the workspace of the item that the path names by its row id: %s', async (_, status, request) => {
    const { id } = (await plane.ask('GET', '/configs/pc-a?workspace_id=second')).body;
    expect((await plane.ask('PUT', `/configs/${id}`, await request())).status).toBe(status);
    expect(await plane.lastAudit()).toMatchObject({ responseStatusCode: status, workspaceId });
  });

  it('hold no value of a body that does not match its schema: any field may be a secret', async () => {
    const body = { name: 'planted-1', key: 'planted-2', unknown_field: 'planted-3', nested: { list: ['planted-4'] } };
    expect((await plane.ask('POST', '/integrations', { body })).status).toBe(400);
    const entry = await plane.lastAudit();
    expect(entry).toMatchObject({
      responseStatusCode: 400,
      requestBody: { name: expect.anything(), unknown_field: expect.anything() },
    });
    expect(JSON.stringify(entry)).not.toContain('planted');
  });

  it('have no workspace if the row id belongs to another organisation', async () => {
    const other = await plane.newTenant();
    const { id } = (await plane.ask('POST', '/configs', { key: other.adminKey, body: { name: 'x', config: {} } })).body;
    expect((await plane.ask('PUT', `/configs/${id}`, { body: { name: 'b' } })).status).toBe(404);
    expect(await plane.lastAudit()).toMatchObject({ responseStatusCode: 404, workspaceId: null });
  });

  it('have it if the caller lacks the scope of the route', async () => {
    const key = await plane.newKey(['configs.list'], 'organisation/service');
    expect((await plane.ask('DELETE', '/configs/pc-a?workspace_id=second', { key })).status).toBe(403);
    expect(await plane.lastAudit()).toMatchObject({ responseStatusCode: 403, workspaceId });
  });

  it('have the workspace that a user has selected, unless the change is one of the organisation', async () => {
    const { token: key } = await newPerson(plane, 'admin', []);
    const headers = { 'x-svc-workspace': 'second' };
    expect((await plane.ask('POST', '/configs', { key, headers, body: { wrong: 1 } })).status).toBe(400);
    expect(await plane.lastAudit()).toMatchObject({ responseStatusCode: 400, workspaceId });
    expect((await plane.ask('POST', '/admin/workspaces', { key, headers, body: { wrong: 1 } })).status).toBe(400);
    expect(await plane.lastAudit()).toMatchObject({ responseStatusCode: 400, workspaceId: null });
  });

  it('have no workspace if the named one belongs to another organisation', async () => {
    const other = await plane.newTenant();
    expect((await plane.ask('POST', '/configs', { body: { workspace_id: other.workspaceId, wrong: 1 } })).status).toBe(400);
    expect(await plane.lastAudit()).toMatchObject({ responseStatusCode: 400, workspaceId: null });
  });
});
