import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { newPerson, type Person } from '../../support/people.ts';
import { type Ask, type Plane, startPlane } from '../../support/plane.ts';
import { hidesForeignItems, refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const someone = '7f9c2d1e-0000-4000-8000-000000000001';
const itemProbes = (id: string) =>
  [
    { method: 'GET', path: `/admin/users/${id}` },
    { method: 'PUT', path: `/admin/users/${id}`, body: { first_name: 'X' } },
    { method: 'DELETE', path: `/admin/users/${id}` },
    { method: 'POST', path: `/admin/users/${id}/password-reset`, body: {} },
  ] as const;
const probes = [
  { method: 'GET', path: '/admin/users' },
  { method: 'POST', path: '/users', body: { email: 'a@example.com' } },
  { method: 'POST', path: '/users/send-verification-email', body: { email: 'a@example.com' } },
  ...itemProbes(someone),
] as const;

refusesUnknownKeys('users', probes);
refusesMissingScopes('users', probes);
// Workspace keys cannot manage users.
hidesForeignItems('users', async (plane) => [(await newPerson(plane)).id], itemProbes, ['adminKey']);

describe.each(ruleDatabases)('rejected changes of users, on %s', (database) => {
  let plane: Plane;
  let owner: Person;
  let admin: Person;
  let member: Person;
  let limitedKey: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    owner = await newPerson(plane, 'owner');
    admin = await newPerson(plane, 'admin');
    member = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    limitedKey = await plane.newKey(
      ['organisation_users.create', 'organisation_users.update', 'organisation_users.delete'],
      'organisation/service',
    );
  });
  afterAll(() => plane?.close());

  const refused = (status: number, code: string, method: string, path: string, ask: Ask) =>
    expectRefusal(plane, () => plane.ask(method, path, ask), status, code, method !== 'GET');

  it('name the invalid field', async () => {
    const issues: [string, string, unknown, string][] = [
      ['POST', '/users', { email: 'no at sign' }, 'email: an e-mail address is expected'],
      ['POST', '/users', { email: 'a@b@c' }, 'email: an e-mail address is expected'],
      ['POST', '/users', { email: 'x@example.com', role: 'boss' }, 'role: owner, admin or member'],
      ['POST', '/users', { email: 'x@example.com', extra: 1 }, 'extra: unknown key'],
      ['PUT', `/admin/users/${member.id}`, { workspaces: [{ id: 'x', role: 'king' }] }, 'workspaces[0].role'],
      ['PUT', `/admin/users/${member.id}`, { first_name: 'a\nb' }, 'first_name: control characters are not allowed'],
    ];
    for (const [method, path, body, issue] of issues) {
      const reply = await refused(400, 'AB01', method, path, { body });
      expect(reply.body.data.errors[0]).toContain(issue);
    }
    await refused(400, 'AB01', 'GET', '/admin/users?role=boss', {});
    await refused(400, 'AB01', 'GET', '/admin/users?page_size=101', {});
  });

  it('include a membership without a role, because it could remove one', async () => {
    const { id } = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const reply = await plane.ask('PUT', `/admin/users/${id}`, { body: { workspaces: [{ id: plane.workspaceId }] } });
    expect([reply.status, reply.body.data?.message]).toEqual([400, 'workspaces[0].role: required']);
    const read = await plane.ask('GET', `/workspaces/${plane.workspaceId}/users/${id}`);
    expect(read.body.role).toBe('manager');
  });

  it('include the e-mail of another user, and an unknown workspace', async () => {
    await refused(409, 'AB07', 'POST', '/users', { body: { email: member.email.toUpperCase() } });
    const body = { email: 'new@example.com', workspaces: [{ id: 'no-such' }] };
    const reply = await refused(404, 'AB02', 'POST', '/users', { body });
    expect(reply.body.data.errors).toEqual(['workspaces[0].id: Workspace not found']);
    const twice = { email: 'new@example.com', workspaces: [{ id: plane.workspaceId }, { id: plane.workspaceId }] };
    await refused(400, 'AB01', 'POST', '/users', { body: twice });
    expect((await plane.ask('GET', '/admin/users?email=new@example.com')).body.total).toBe(0);
  });

  it('include an e-mail outside the domains of the organisation', async () => {
    const path = `/organisations/${plane.organisationId}/auth-settings`;
    const domains = [{ domain: 'example.com', allow_subdomains: true }];
    expect((await plane.ask('PUT', path, { body: { allowed_email_domains: domains } })).status).toBe(200);
    for (const email of ['x@example.org', 'x@notexample.com']) {
      await refused(400, 'AB01', 'POST', '/users', { body: { email } });
      await refused(400, 'AB01', 'POST', '/admin/users/invites', { body: { email, role: 'member', workspaces: [] } });
    }
    expect((await plane.ask('POST', '/users', { body: { email: 'x@deep.example.com' } })).status).toBe(200);
  });

  it('include owners changed by admins, and admins who create owners', async () => {
    for (const key of [admin.token, limitedKey]) {
      await refused(403, 'AB03', 'PUT', `/admin/users/${owner.id}`, { key, body: { role: 'member' } });
      await refused(403, 'AB03', 'PUT', `/admin/users/${owner.id}`, { key, body: { first_name: 'Mallory' } });
      await refused(403, 'AB03', 'DELETE', `/admin/users/${owner.id}`, { key });
      await refused(403, 'AB03', 'POST', `/admin/users/${owner.id}/password-reset`, { key, body: {} });
      await refused(403, 'AB03', 'PUT', `/admin/users/${member.id}`, { key, body: { role: 'owner' } });
      await refused(403, 'AB03', 'POST', '/users', { key, body: { email: 'o@example.com', role: 'owner' } });
    }
  });

  it('include admins created or taken over with a key of lower rights', async () => {
    const key = limitedKey;
    await refused(403, 'AB03', 'POST', '/users', { key, body: { email: 'a@example.com', role: 'admin' } });
    await refused(403, 'AB03', 'PUT', `/admin/users/${member.id}`, { key, body: { role: 'admin' } });
    await refused(403, 'AB03', 'POST', `/admin/users/${admin.id}/password-reset`, { key, body: {} });
    const invite = { email: 'a@example.com', role: 'admin', workspaces: [] };
    await refused(403, 'AB03', 'POST', '/admin/users/invites', { key, body: invite });
    expect((await plane.ask('POST', '/users', { key, body: { email: 'plain@example.com' } })).status).toBe(200);
  });

  it('include removing the last owner, also concurrently', async () => {
    await refused(409, 'AB07', 'DELETE', `/admin/users/${owner.id}`, { key: owner.token });
    await refused(409, 'AB07', 'PUT', `/admin/users/${owner.id}`, { key: owner.token, body: { role: 'admin' } });
    const second = await newPerson(plane, 'owner');
    const replies = await Promise.all(
      [owner, second].map((one) => plane.ask('PUT', `/admin/users/${one.id}`, { body: { role: 'admin' } })),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409]);
    expect((await plane.ask('GET', '/admin/users?role=owner')).body.total).toBe(1);
  });
});
