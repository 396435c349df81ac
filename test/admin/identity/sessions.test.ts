import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessions } from '../../../admin/identity/entity.ts';
import { expectChange, expectRefusal } from '../support/outcomes.ts';
import { login, newPerson, type Person } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('sessions, on %s', (database) => {
  let plane: Plane;
  let person: Person;
  beforeAll(async () => {
    plane = await startPlane(database);
    person = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
  });
  afterAll(() => plane?.close());

  const rows = () => plane.control.services.database.em().find(sessions, { userId: person.id });

  it('begin with e-mail and password, and leave an audit entry', async () => {
    const reply = await expectChange(plane, () => login(plane, person.email.toUpperCase(), person.password), {
      resource: 'sessions',
      action: 'login',
      events: [],
    });
    expect(reply.body).toMatchObject({ object: 'session', user: { id: person.id, email: person.email, role: 'member' } });
    expect(reply.body.auth_token).toMatch(/^svc_session_[A-Za-z0-9_-]{43}$/);
    expect(await plane.lastAudit()).toMatchObject({ userId: person.id, userType: 'user', clientIp: '127.0.0.1' });
    expect(JSON.stringify(await plane.lastAudit())).not.toContain(person.password);
    const stored = JSON.stringify(await rows());
    expect(stored).not.toContain(reply.body.auth_token);
    expect(stored).not.toContain(reply.body.auth_token.slice('svc_session_'.length));
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });

  it('identify the user and rights, as bearer, in the key header, and in the cookie', async () => {
    const bearer = { authorization: `Bearer ${person.token}` };
    const self = await plane.ask('GET', '/auth/self', { key: null, headers: bearer });
    expect(self.status).toBe(200);
    expect(self.body).toMatchObject({
      object: 'self',
      user: { id: person.id, workspace_ids: [plane.workspaceId] },
      organisation: { id: plane.organisationId },
      workspaces: [{ id: plane.workspaceId, role: 'manager' }],
    });
    expect(self.body.workspaces[0].scopes).toContain('configs.create');
    expect((await plane.ask('GET', '/auth/self', { key: person.token })).body.user.id).toBe(person.id);
    const cookie = { cookie: `other=1; svc_session=${person.token}` };
    expect((await plane.ask('GET', '/auth/self', { key: null, headers: cookie })).body.user.id).toBe(person.id);
  });

  it('are for users: API keys are rejected', async () => {
    for (const key of [plane.adminKey, plane.workspaceKey]) {
      await expectRefusal(plane, () => plane.ask('GET', '/auth/self', { key }), 403, 'AB03', false);
    }
    await expectRefusal(plane, () => plane.ask('GET', '/auth/self', { key: null }), 401, 'AB05', false);
  });

  it('let every member read the organisation', async () => {
    const reply = await plane.ask('GET', '/organisations/self', { key: person.token });
    expect(reply.body).toMatchObject({ success: true, data: { id: plane.organisationId } });
    await expectRefusal(
      plane,
      () => plane.ask('PUT', '/organisations/self', { key: person.token, body: { name: 'Mine' } }),
      403,
      'AB03',
      true,
    );
  });

  it('end with logout, which deletes the cookie', async () => {
    const { auth_token } = (await login(plane, person.email, person.password)).body;
    const reply = await expectChange(plane, () => plane.ask('POST', '/auth/logout', { key: auth_token }), {
      resource: 'sessions',
      action: 'logout',
      events: [],
    });
    expect(reply.headers.get('set-cookie')).toMatch(/^svc_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/);
    await expectRefusal(plane, () => plane.ask('GET', '/auth/self', { key: auth_token }), 401, 'AB05', false);
  });

  it('are listed, and can be ended from another session of the same user only', async () => {
    const { auth_token } = (await login(plane, person.email, person.password)).body;
    const list = (await plane.ask('GET', '/auth/sessions', { key: auth_token })).body;
    const other = list.data.find((one: { is_current: number }) => one.is_current === 0);
    expect(list.data.filter((one: { is_current: number }) => one.is_current === 1)).toHaveLength(1);
    const stranger = await newPerson(plane);
    await expectRefusal(
      plane,
      () => plane.ask('DELETE', `/auth/sessions/${other.id}`, { key: stranger.token }),
      404,
      'AB08',
      true,
    );
    await expectChange(plane, () => plane.ask('DELETE', `/auth/sessions/${other.id}`, { key: auth_token }), {
      resource: 'sessions',
      action: 'delete',
      events: [],
    });
    const left = (await plane.ask('GET', '/auth/sessions', { key: auth_token })).body;
    expect(left.total).toBe(list.total - 1);
    expect(left.data.map((one: { id: string }) => one.id)).not.toContain(other.id);
  });

  it('sessions by password end at once if single sign-on is required, except those of owners', async () => {
    const change = (require_sso: boolean) =>
      plane.ask('PUT', `/organisations/${plane.organisationId}/auth-settings`, { body: { require_sso } });
    const statusOf = async (key: string) => (await plane.ask('GET', '/auth/self', { key })).status;
    const refresh = async (refresh_token: string) =>
      (await plane.ask('POST', '/auth/refresh', { key: null, body: { refresh_token } })).status;
    const [owner, member, demoted] = [await newPerson(plane, 'owner'), await newPerson(plane), await newPerson(plane, 'owner')];
    const signedIn = (await login(plane, member.email, member.password)).body;
    const ofDemoted = (await login(plane, demoted.email, demoted.password)).body;
    expect((await change(true)).status).toBe(200);
    expect(await Promise.all([owner.token, member.token, demoted.token].map(statusOf))).toEqual([200, 401, 200]);
    expect(await refresh(signedIn.refresh_token)).toBe(401);
    expect((await plane.ask('PUT', `/admin/users/${demoted.id}`, { body: { role: 'member' } })).status).toBe(200);
    expect(await statusOf(demoted.token)).toBe(401);
    expect(await refresh(ofDemoted.refresh_token)).toBe(401);
    expect((await change(false)).status).toBe(200);
    expect(await statusOf(member.token)).toBe(401);
    person = { ...person, token: (await login(plane, person.email, person.password)).body.auth_token };
  });

  it('do not open the gateways’ internal API, and are no keys to it', async () => {
    const reply = await plane.internal('GET', '/changes', undefined, person.token);
    expect(reply.status).toBe(401);
  });

  it('reject malformed tokens', async () => {
    for (const key of ['svc_session_', `svc_session_${'a'.repeat(43)}`, `${person.token}x`, `svc_session_${"'".repeat(43)}`]) {
      await expectRefusal(plane, () => plane.ask('GET', '/auth/self', { key }), 401, 'AB05', false);
    }
  });
});
