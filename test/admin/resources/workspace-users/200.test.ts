import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { expectChange } from '../../support/outcomes.ts';
import { newPerson, type Person } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('members of workspaces, on %s', (database) => {
  let plane: Plane;
  let base: string;
  let person: Person;
  beforeAll(async () => {
    plane = await startPlane(database);
    base = `/admin/workspaces/${plane.workspaceId}/users`;
    person = await newPerson(plane);
  });
  afterAll(() => plane?.close());

  it('can be added, listed and read under every path', async () => {
    await expectChange(plane, () => plane.ask('POST', base, { body: { users: [{ id: person.id, role: 'manager' }] } }), {
      resource: 'workspace_users',
      action: 'create',
      events: [],
    });
    const list = (await plane.ask('GET', base)).body;
    expect(list).toMatchObject({ object: 'list', total: 1 });
    const [row] = list.data;
    expect(row).toEqual({
      object: 'workspace-user',
      id: person.id,
      first_name: null,
      last_name: null,
      org_role: 'member',
      role: 'manager',
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
      status: 'active',
      workspace_id: plane.workspaceId,
      email: person.email,
      scopes: expect.arrayContaining(['configs.create', 'workspace_users.create', 'completions.write']),
      settings: {},
    });
    for (const path of [
      `${base}/${person.id}`,
      `/admin/workspaces/${plane.workspaceId}/members/${person.id}`,
      `/workspaces/${plane.workspaceId}/users/${person.id}`,
      `/workspaces/${plane.workspaceId}/members/${person.id}`,
    ]) {
      expect((await plane.ask('GET', path)).body).toEqual(row);
    }
    expect((await plane.ask('GET', `${base}?role=admin`)).body.total).toBe(0);
    expect((await plane.ask('GET', `${base}?email=${person.email}&role=manager`)).body.total).toBe(1);
    expect((await plane.ask('GET', `${base}?page_size=1&current_page=1`)).body).toMatchObject({ total: 1, data: [] });
    const workspace = (await plane.ask('GET', `/admin/workspaces/${plane.workspaceId}`)).body;
    expect(workspace.users).toEqual([row]);
  });

  it('get the role member without a role, which the older path omits', async () => {
    const plain = await newPerson(plane);
    const path = `/workspaces/${plane.workspaceId}/users`;
    expect((await plane.ask('POST', path, { body: { users: [{ id: plain.id }] } })).status).toBe(200);
    expect((await plane.ask('GET', `${path}/${plain.id}`)).body.role).toBe('member');
  });

  it('can change their role; their keys, and keys they granted, follow at once', async () => {
    const own = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { name: 'Own', scopes: ['completions.write', 'configs.create'], user_id: person.id, workspace_id: plane.workspaceId },
    });
    const given = await plane.ask('POST', '/api-keys/workspace/service', {
      key: person.token,
      body: { name: 'Given', scopes: ['completions.write', 'configs.create'] },
    });
    const ids = [own, given].map((reply) => parseApiKey(reply.body.key)?.id);
    const etag = (await plane.ask('GET', `${base}/${person.id}`)).headers.get('etag') ?? '';
    const body = { role: 'member' };
    await expectChange(plane, () => plane.ask('PUT', `${base}/${person.id}`, { body, headers: { 'if-match': etag } }), {
      resource: 'workspace_users',
      action: 'update',
      events: ids.map((id) => `api-key ${id} upsert`),
    });
    for (const [id, reply] of [
      [ids[0], own],
      [ids[1], given],
    ] as const) {
      const document = (await plane.internal('GET', `/documents/api-key/${id}`)).body.document;
      expect(document.scopes).toEqual(['completions.write']);
      const config = { name: 'C', config: { provider: '@mock' } };
      expect((await plane.ask('POST', '/configs', { key: reply.body.key, body: config })).status).toBe(403);
    }
    const stale = await plane.ask('PUT', `${base}/${person.id}`, { body, headers: { 'if-match': etag } });
    expect(stale.status).toBe(412);
    await plane.ask('PUT', `${base}/${person.id}`, { body: { role: 'viewer' } });
    const viewer = (await plane.internal('GET', `/documents/api-key/${ids[0]}`)).body.document;
    expect(viewer.scopes).toEqual([]);
    await plane.ask('PUT', `${base}/${person.id}`, { body: { role: 'manager' } });
    const back = (await plane.internal('GET', `/documents/api-key/${ids[0]}`)).body.document;
    expect(back.scopes).toEqual(['completions.write', 'configs.create']);
  });

  it('can be removed, with their keys of that workspace', async () => {
    const other = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Other' } })).body;
    const memberships = [plane.workspaceId, other.id].map((id: string) => ({ id, role: 'member' as const }));
    const leaver = await newPerson(plane, 'member', memberships);
    const [here, there] = await Promise.all(
      memberships.map(({ id }) =>
        plane.ask('POST', '/api-keys/workspace/user', {
          body: { name: 'K', scopes: ['configs.list'], user_id: leaver.id, workspace_id: id },
        }),
      ),
    );
    await expectChange(plane, () => plane.ask('DELETE', `${base}/${leaver.id}`), {
      resource: 'workspace_users',
      action: 'delete',
      events: [`api-key ${parseApiKey(here?.body.key)?.id} delete`],
    });
    expect((await plane.ask('GET', '/configs', { key: here?.body.key })).status).toBe(401);
    expect((await plane.ask('GET', '/configs', { key: there?.body.key })).status).toBe(200);
    expect((await plane.ask('GET', `${base}/${leaver.id}`)).status).toBe(404);
    expect((await plane.ask('GET', '/auth/self', { key: leaver.token })).body.workspaces).toMatchObject([{ id: other.id }]);
  });
});
