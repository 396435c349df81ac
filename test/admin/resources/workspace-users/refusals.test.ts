import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { newPerson, type Person } from '../../support/people.ts';
import { type Ask, type Plane, startPlane } from '../../support/plane.ts';
import { refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const someone = '7f9c2d1e-0000-4000-8000-000000000001';
const probesOf = (base: string, id: string) =>
  [
    { method: 'GET', path: base },
    { method: 'POST', path: base, body: { users: [{ id }] } },
    { method: 'GET', path: `${base}/${id}` },
    { method: 'PUT', path: `${base}/${id}`, body: { role: 'member' } },
    { method: 'DELETE', path: `${base}/${id}` },
  ] as const;

refusesUnknownKeys('members of workspaces', probesOf(`/admin/workspaces/${someone}/users`, someone));
refusesMissingScopes('members of workspaces', probesOf(`/workspaces/${someone}/users`, someone));

describe.each(ruleDatabases)('rejected changes of workspace members, on %s', (database) => {
  let plane: Plane;
  let base: string;
  let admin: Person;
  let manager: Person;
  let member: Person;
  beforeAll(async () => {
    plane = await startPlane(database);
    base = `/admin/workspaces/${plane.workspaceId}/users`;
    admin = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'admin' }]);
    manager = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
  });
  afterAll(() => plane?.close());

  const refused = (status: number, code: string, method: string, path: string, ask: Ask) =>
    expectRefusal(plane, () => plane.ask(method, path, ask), status, code, method !== 'GET');

  it('are about the workspace of the path: a query that names another one is rejected', async () => {
    const { id } = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Other', slug: 'other' } })).body;
    for (const other of [id, 'other']) {
      for (const method of ['GET', 'DELETE']) {
        const reply = await refused(400, 'AB01', method, `${base}/${member.id}?workspace_id=${other}`, {});
        expect(reply.body.data.message).toBe('workspace_id: must equal the workspace in the path. Remove it');
      }
    }
    for (const same of [plane.workspaceId, 'ws-default']) {
      expect((await plane.ask('GET', `${base}/${member.id}?workspace_id=${same}`)).status).toBe(200);
    }
  });

  it('need the role of their user in that workspace, not in another one', async () => {
    const { id } = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Third', slug: 'third' } })).body;
    const person = await newPerson(plane, 'member', [
      { id: plane.workspaceId, role: 'member' },
      { id, role: 'manager' },
    ]);
    const ask = { key: person.token, body: { users: [{ id: admin.id }] } };
    await refused(403, 'AB03', 'POST', base, ask);
    expect((await plane.ask('POST', `/admin/workspaces/${id}/users`, ask)).status).toBe(200);
  });

  it('must belong to the organisation first, and to the workspace', async () => {
    const other = await plane.newTenant();
    const foreign = await plane.ask('POST', '/users', { key: other.adminKey, body: { email: 'far@example.com' } });
    for (const id of [someone, foreign.body.id]) {
      const reply = await refused(404, 'AB02', 'POST', base, { body: { users: [{ id }] } });
      expect(reply.body.data.errors).toEqual(['users[0].id: User of the organisation not found']);
    }
    await refused(409, 'AB07', 'POST', base, { body: { users: [{ id: member.id }] } });
    await refused(400, 'AB01', 'POST', base, { body: { users: [{ id: member.id }, { id: member.id }] } });
    await refused(400, 'AB01', 'POST', base, { body: { users: [{ id: member.id, role: 'owner' }] } });
    await refused(400, 'AB01', 'POST', base, { body: { users: [] } });
  });

  it('are not found in another organisation, nor is its workspace', async () => {
    const other = await plane.newTenant();
    for (const probe of probesOf(base, member.id)) {
      const ask = () =>
        plane.ask(probe.method, probe.path, { key: other.adminKey, body: 'body' in probe ? probe.body : undefined });
      await expectRefusal(plane, ask, 404, 'AB08', probe.method !== 'GET');
    }
    for (const probe of probesOf(`/workspaces/${other.workspaceId}/users`, member.id)) {
      for (const key of [plane.adminKey, manager.token]) {
        const ask = () => plane.ask(probe.method, probe.path, { key, body: 'body' in probe ? probe.body : undefined });
        await expectRefusal(plane, ask, 404, 'AB08', probe.method !== 'GET');
      }
    }
  });

  it('cannot be made, changed or removed as admins by managers', async () => {
    const key = manager.token;
    const joiner = await newPerson(plane);
    await refused(403, 'AB03', 'POST', base, { key, body: { users: [{ id: joiner.id, role: 'admin' }] } });
    await refused(403, 'AB03', 'PUT', `${base}/${member.id}`, { key, body: { role: 'admin' } });
    await refused(403, 'AB03', 'PUT', `${base}/${admin.id}`, { key, body: { role: 'member' } });
    await refused(403, 'AB03', 'DELETE', `${base}/${admin.id}`, { key });
    expect((await plane.ask('POST', base, { key, body: { users: [{ id: joiner.id, role: 'manager' }] } })).status).toBe(200);
  });

  it('cannot remove the last admin themselves; owners and admins can', async () => {
    const key = admin.token;
    await refused(409, 'AB07', 'PUT', `${base}/${admin.id}`, { key, body: { role: 'member' } });
    await refused(409, 'AB07', 'DELETE', `${base}/${admin.id}`, { key });
    expect((await plane.ask('PUT', `${base}/${member.id}`, { key, body: { role: 'admin' } })).status).toBe(200);
    expect((await plane.ask('PUT', `${base}/${admin.id}`, { key, body: { role: 'member' } })).status).toBe(200);
    expect((await plane.ask('DELETE', `${base}/${member.id}`)).status).toBe(200);
  });

  it('cannot act in one workspace with their role in another', async () => {
    const second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } })).body;
    const both = await newPerson(plane, 'member', [
      { id: plane.workspaceId, role: 'manager' },
      { id: second.id, role: 'member' },
    ]);
    const key = both.token;
    const theirs = `/workspaces/${second.id}/users`;
    await refused(403, 'AB03', 'GET', theirs, { key });
    const body = { users: [{ id: manager.id }] };
    await refused(403, 'AB03', 'POST', theirs, { key, body });
    await refused(400, 'AB01', 'POST', theirs, { key, body: { ...body, workspace_id: plane.workspaceId } });
    await refused(400, 'AB01', 'POST', `${theirs}?workspace_id=${plane.workspaceId}`, { key, body });
    await refused(400, 'AB01', 'GET', '/configs', { key });
    expect((await plane.ask('GET', `/configs?workspace_id=${second.id}`, { key })).status).toBe(200);
    expect((await plane.ask('GET', '/configs', { key, headers: { 'x-svc-workspace': second.slug } })).status).toBe(200);
    const config = { name: 'C', config: { provider: '@mock' } };
    await refused(403, 'AB03', 'POST', '/configs', { key, body: { ...config, workspace_id: second.id } });
    expect((await plane.ask('POST', '/configs', { key, body: { ...config, workspace_id: plane.workspaceId } })).status).toBe(200);
    expect((await plane.ask('GET', '/workspaces', { key })).body.total).toBe(2);
  });
});
