import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { expectChange } from '../../support/outcomes.ts';
import { login, newPerson, type Person, tokenOf } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('accepted changes of users, on %s', (database) => {
  let plane: Plane;
  let owner: Person;
  let member: Person;
  let second: { id: string; slug: string };
  beforeAll(async () => {
    plane = await startPlane(database);
    owner = await newPerson(plane, 'owner');
    member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } })).body;
  });
  afterAll(() => plane?.close());

  it('include reads with an etag and workspaces, without the password', async () => {
    const reply = await plane.ask('GET', `/admin/users/${member.id}`);
    expect(reply.body).toEqual({
      object: 'user',
      id: member.id,
      first_name: null,
      last_name: null,
      role: 'member',
      email: member.email,
      email_verified_at: null,
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
      workspace_ids: [plane.workspaceId],
    });
    expect(reply.headers.get('etag')).toMatch(/^"\d+"$/);
    const everywhere = await plane.ask('GET', `/admin/users/${owner.id}`);
    expect(everywhere.body.workspace_ids.sort()).toEqual([plane.workspaceId, second.id].sort());
  });

  it('include lists by role and e-mail, with paging in both spellings, under all paths', async () => {
    const ids = async (path: string) => (await plane.ask('GET', path)).body.data.map((one: { id: string }) => one.id);
    const all = (await plane.ask('GET', '/admin/users')).body;
    expect(all).toMatchObject({ object: 'list', total: 2 });
    expect(await ids('/admin/users?role=owner')).toEqual([owner.id]);
    expect(await ids(`/admin/users?email=${encodeURIComponent(member.email.toUpperCase())}`)).toEqual([member.id]);
    expect(await ids('/admin/users?pageSize=1&currentPage=1')).toEqual([member.id]);
    expect(await ids('/admin/users?page_size=1&current_page=0')).toEqual([owner.id]);
    for (const path of [`/organisation/${plane.organisationId}/members`, `/organisations/${plane.organisationId}/members`]) {
      expect((await plane.ask('GET', path)).body).toEqual(all);
    }
    const v2 = await fetch(`${plane.url}/v2/organisations/${plane.organisationId}/members`, {
      headers: { 'x-svc-api-key': plane.adminKey },
    });
    expect(await v2.json()).toEqual(all);
  });

  it('include name and memberships; gateways reload the keys there', async () => {
    const key = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { name: 'K', scopes: ['completions.write'], user_id: member.id, workspace_id: plane.workspaceId },
    });
    const publicId = parseApiKey(key.body.key)?.id;
    const body = { first_name: 'Ada', last_name: 'Lovelace', workspaces: [{ id: second.slug, role: 'manager' }] };
    const etag = (await plane.ask('GET', `/admin/users/${member.id}`)).headers.get('etag') ?? '';
    await expectChange(plane, () => plane.ask('PUT', `/admin/users/${member.id}`, { body, headers: { 'if-match': etag } }), {
      resource: 'users',
      action: 'update',
      events: [`api-key ${publicId} upsert`],
    });
    expect((await plane.ask('GET', `/admin/users/${member.id}`)).body).toMatchObject({
      first_name: 'Ada',
      last_name: 'Lovelace',
      workspace_ids: [plane.workspaceId, second.id],
    });
    const document = (await plane.internal('GET', `/documents/api-key/${publicId}`)).body.document;
    expect(document).toMatchObject({ userName: 'Ada Lovelace', scopes: ['completions.write'] });
    const stale = await plane.ask('PUT', `/admin/users/${member.id}`, { body, headers: { 'if-match': etag } });
    expect(stale.body.data).toMatchObject({ errorCode: 'AB12' });
  });

  it('accept workspace ids in any letter case', async () => {
    const { id } = await newPerson(plane);
    const body = { workspaces: [{ id: plane.workspaceId.toUpperCase(), role: 'viewer' }] };
    expect((await plane.ask('PUT', `/admin/users/${id.toUpperCase()}`, { body })).status).toBe(200);
    expect((await plane.ask('GET', `/admin/users/${id}`)).body.workspace_ids).toEqual([plane.workspaceId]);
    const members = await plane.ask('GET', `/organisation/${plane.organisationId.toUpperCase()}/members`);
    expect(members.status).toBe(200);
  });

  it('include users without an invite, with a link to set a password that works once', async () => {
    const body = { email: 'Direct@Example.com', first_name: 'D', role: 'admin' };
    const made = await expectChange(plane, () => plane.ask('POST', '/users', { body }), {
      resource: 'users',
      action: 'create',
      events: [],
    });
    expect(made.body).toEqual({ id: expect.any(String), set_password_link: expect.any(String), object: 'user' });
    expect((await login(plane, body.email, '')).status).toBe(401);
    const reset = () =>
      plane.ask('POST', '/auth/password/reset', {
        key: null,
        body: { token: tokenOf(made.body.set_password_link), password: 'a long enough one' },
      });
    expect((await reset()).status).toBe(200);
    expect((await login(plane, body.email, 'a long enough one')).status).toBe(200);
    expect((await reset()).status).toBe(404);
  });

  it('include a link that verifies their e-mail', async () => {
    const reply = await plane.ask('POST', '/users/send-verification-email', { body: { email: member.email } });
    const verify = () =>
      plane.ask('POST', '/auth/verify-email', { key: null, body: { token: tokenOf(reply.body.verification_link) } });
    // A link of another kind is not accepted here.
    const wrong = { token: tokenOf(reply.body.verification_link), password: 'a long enough one' };
    expect((await plane.ask('POST', '/auth/password/reset', { key: null, body: wrong })).status).toBe(404);
    await expectChange(plane, verify, { resource: 'users', action: 'verify_email', events: [] });
    expect((await plane.ask('GET', `/admin/users/${member.id}`)).body).toMatchObject({ email_verified_at: expect.any(String) });
    expect((await verify()).status).toBe(404);
  });

  it('include removal with keys, sessions and memberships; keys they granted stay', async () => {
    const leaver = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const own = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { name: 'Own', scopes: ['completions.write'], user_id: leaver.id, workspace_id: plane.workspaceId },
    });
    const given = await plane.ask('POST', '/api-keys/workspace/service', {
      key: leaver.token,
      body: { name: 'Given', scopes: ['completions.write', 'configs.list'] },
    });
    expect(given.status, JSON.stringify(given.body)).toBe(200);
    await expectChange(plane, () => plane.ask('DELETE', `/admin/users/${leaver.id}`), {
      resource: 'users',
      action: 'delete',
      events: [`api-key ${parseApiKey(own.body.key)?.id} delete`, `user ${plane.organisationId}/${leaver.email} upsert`],
    });
    expect((await plane.ask('GET', '/auth/self', { key: leaver.token })).status).toBe(401);
    expect((await plane.ask('GET', '/configs', { key: own.body.key })).status).toBe(401);
    expect((await plane.ask('GET', '/configs', { key: given.body.key })).status).toBe(200);
    expect((await login(plane, leaver.email, leaver.password)).status).toBe(401);
    expect((await plane.ask('GET', `/admin/users/${leaver.id}`)).status).toBe(404);
    const members = await plane.ask('GET', `/admin/workspaces/${plane.workspaceId}/users`);
    expect(members.body.data.map((one: { id: string }) => one.id)).not.toContain(leaver.id);
  });
});
