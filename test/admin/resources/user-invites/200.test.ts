import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../admin/audit/entity.ts';
import { userInvites } from '../../../../admin/resources/user-invites/entity.ts';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { expectChange } from '../../support/outcomes.ts';
import { accept, login, newPerson, tokenOf } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('invites, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const invite = (body: Record<string, unknown>) =>
    plane.ask('POST', '/admin/users/invites', { body: { role: 'member', workspaces: [], ...body } });
  const statusOf = async (id: string) => (await plane.ask('GET', `/admin/users/invites/${id}`)).body.status;
  const travelTo = (id: string, expiresAt: Date) =>
    plane.control.services.database.em().nativeUpdate(userInvites, { id }, { expiresAt });

  it('return a link whose token is stored nowhere, and are read without it', async () => {
    const body = { email: 'New@Example.com', workspaces: [{ id: plane.workspaceId, role: 'manager' }] };
    const reply = await expectChange(plane, () => invite(body), { resource: 'user_invites', action: 'create', events: [] });
    expect(reply.body).toEqual({ id: expect.any(String), invite_link: expect.any(String) });
    const token = tokenOf(reply.body.invite_link);
    expect(token).toMatch(/^svc_invite_[A-Za-z0-9_-]{43}$/);
    const rows = await plane.control.services.database.em().find(userInvites, { id: reply.body.id });
    expect(JSON.stringify(rows)).not.toContain(token);
    const read = await plane.ask('GET', `/admin/users/invites/${reply.body.id}`);
    expect(read.body).toEqual({
      object: 'invite',
      id: reply.body.id,
      email: 'new@example.com',
      role: 'member',
      created_at: expect.any(String),
      expires_at: expect.any(String),
      accepted_at: null,
      status: 'pending',
      invited_by: expect.any(String),
    });
    const days = (Date.parse(read.body.expires_at) - Date.parse(read.body.created_at)) / 86_400_000;
    expect(days).toBe(7);
  });

  it('create a user with memberships and keys on acceptance, once, and sign in', async () => {
    const { body: made } = await invite({
      email: 'joiner@example.com',
      workspaces: [{ id: plane.workspaceId, role: 'member' }],
      workspace_api_key_details: { scopes: ['completions.write', 'logs.view'], defaults: { metadata: { team: 'a' } } },
    });
    const token = tokenOf(made.invite_link);
    const before = (await plane.events()).length;
    const both = await Promise.all([accept(plane, token), accept(plane, token)]);
    expect(both.map((reply) => reply.status).sort()).toEqual([200, 404]);
    const reply = both.find((one) => one.status === 200);
    expect(reply?.body).toMatchObject({
      object: 'session',
      user: { email: 'joiner@example.com', role: 'member', workspace_ids: [plane.workspaceId] },
      api_keys: [{ workspace_id: plane.workspaceId, object: 'api-key' }],
    });
    const accepted = await plane.control.services.database
      .em()
      .findOneOrFail(auditEntries, { action: 'accept', responseStatusCode: 200 });
    expect([accepted.userId, accepted.resourceId]).toEqual([reply?.body.user.id, made.id]);
    const [key] = (reply?.body.api_keys ?? []) as [{ id: string; key: string }];
    const events = (await plane.events()).slice(before);
    expect(events.map((event) => `${event.kind} ${event.documentId} ${event.op}`)).toEqual([
      `api-key ${parseApiKey(key.key)?.id} upsert`,
    ]);
    const row = (await plane.ask('GET', `/api-keys/${key.id}`)).body;
    expect(row).toMatchObject({
      type: 'workspace-user',
      user_id: reply?.body.user.id,
      scopes: ['completions.write', 'logs.view'],
      defaults: { metadata: { team: 'a' } },
    });
    expect(await statusOf(made.id)).toBe('accepted');
    expect((await plane.ask('GET', '/auth/self', { key: reply?.body.auth_token })).body.user.id).toBe(reply?.body.user.id);
    expect((await login(plane, 'joiner@example.com', 'correct horse battery')).status).toBe(200);
  });

  it('give the new member the key that the settings of the workspace require', async () => {
    const workspace = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Auto' } })).body;
    const settings = { user_api_key_auto_create: true, user_api_key_auto_create_scopes: ['completions.write'] };
    expect((await plane.ask('PUT', '/organisations/self', { body: { settings } })).status).toBe(200);
    const person = await newPerson(plane, 'member', [{ id: workspace.id, role: 'member' }]);
    const keys = (await plane.ask('GET', `/api-keys?workspace_id=${workspace.id}`)).body.data;
    expect(keys).toMatchObject([{ user_id: person.id, creation_mode: 'auto', scopes: ['completions.write'] }]);
    await plane.ask('PUT', '/organisations/self', { body: { settings: { user_api_key_auto_create: false } } });
  });

  it('without workspaces add a member to the default workspace, with a key whose secret is in the reply', async () => {
    const settings = { default_workspace_user_api_key_auto_create: true, user_api_key_auto_create_scopes: ['completions.write'] };
    expect((await plane.ask('PUT', '/organisations/self', { body: { settings } })).status).toBe(200);
    const { body: made } = await invite({ email: 'everybody@example.com' });
    const { body } = await accept(plane, tokenOf(made.invite_link));
    const [own, ...others] = (await plane.ask('GET', '/workspaces?page_size=100')).body.data.filter(
      (one: { is_default: number }) => one.is_default === 1,
    );
    expect(others).toEqual([]);
    expect(body).toMatchObject({ user: { workspace_ids: [own.id] }, api_keys: [{ workspace_id: own.id, object: 'api-key' }] });
    const [key] = body.api_keys as [{ id: string; key: string }];
    expect(key.key).toMatch(/^svc_user_/);
    const self = await plane.ask('GET', '/api-keys/self/details', { key: key.key });
    expect(self).toMatchObject({
      status: 200,
      body: { data: { api_key_details: { name: 'Personal key', scopes: ['completions.write'] } } },
    });
    expect(JSON.stringify(await plane.ask('GET', `/api-keys/${key.id}`))).not.toContain(key.key);
    await plane.ask('PUT', '/organisations/self', { body: { settings: { default_workspace_user_api_key_auto_create: false } } });
  });

  it('return a key required by settings in the reply only', async () => {
    const workspace = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Shown once' } })).body;
    await plane.ask('PUT', '/organisations/self', { body: { settings: { user_api_key_auto_create: true } } });
    const { body: made } = await invite({ email: 'shown@example.com', workspaces: [{ id: workspace.id, role: 'member' }] });
    const { body } = await accept(plane, tokenOf(made.invite_link));
    expect(body.api_keys).toEqual([
      { workspace_id: workspace.id, id: expect.any(String), key: expect.any(String), object: 'api-key' },
    ]);
    const self = await plane.ask('GET', '/api-keys/self/details', { key: body.api_keys[0].key });
    expect(self).toMatchObject({ status: 200, body: { data: { api_key_details: { name: 'Personal key' } } } });
    expect((await plane.lastAudit())?.requestBody ?? {}).not.toHaveProperty('key');
    await plane.ask('PUT', '/organisations/self', { body: { settings: { user_api_key_auto_create: false } } });
  });

  it('expire, and can then be created again', async () => {
    const { body: made } = await invite({ email: 'late@example.com' });
    expect((await invite({ email: 'late@example.com' })).body.data.errorCode).toBe('AB07');
    await travelTo(made.id, new Date(Date.now() - 1_000));
    expect(await statusOf(made.id)).toBe('expired');
    expect((await accept(plane, tokenOf(made.invite_link))).status).toBe(404);
    expect((await invite({ email: 'late@example.com' })).status).toBe(200);
    expect(await statusOf(made.id)).toBe('expired');
    const expired = (await plane.ask('GET', '/admin/users/invites?status=expired')).body;
    expect(expired.data.map((one: { id: string }) => one.id)).toEqual([made.id]);
  });

  it('cannot be sent again while a newer one for the same e-mail is valid', async () => {
    const { body: first } = await invite({ email: 'twice@example.com' });
    await travelTo(first.id, new Date(Date.now() - 1_000));
    const { body: second } = await invite({ email: 'twice@example.com' });
    const resend = () => plane.ask('POST', `/admin/users/invites/${first.id}/resend`, { body: {} });
    const refused = await resend();
    expect([refused.status, refused.body.data?.message]).toEqual([409, 'An invite for this e-mail already exists']);
    await travelTo(second.id, new Date(Date.now() - 1_000));
    expect((await resend()).status).toBe(200);
    expect([await statusOf(first.id), await statusOf(second.id)]).toEqual(['pending', 'expired']);
  });

  it('can be sent again with a new link and expiry; the old link is invalid', async () => {
    const { body: made } = await invite({ email: 'again@example.com' });
    await travelTo(made.id, new Date(Date.now() - 1_000));
    const again = await expectChange(plane, () => plane.ask('POST', `/admin/users/invites/${made.id}/resend`, { body: {} }), {
      resource: 'user_invites',
      action: 'resend',
      events: [],
    });
    expect(Object.keys(again.body)).toEqual(['inviteLink']);
    expect(await statusOf(made.id)).toBe('pending');
    expect((await accept(plane, tokenOf(made.invite_link))).status).toBe(404);
    expect((await accept(plane, tokenOf(again.body.inviteLink))).status).toBe(200);
  });

  it('are cancelled by deletion, and invalid then', async () => {
    const { body: made } = await invite({ email: 'never@example.com' });
    await expectChange(plane, () => plane.ask('DELETE', `/admin/users/invites/${made.id}`), {
      resource: 'user_invites',
      action: 'delete',
      events: [],
    });
    expect(await statusOf(made.id)).toBe('cancelled');
    expect((await accept(plane, tokenOf(made.invite_link))).status).toBe(404);
    expect((await plane.ask('POST', `/admin/users/invites/${made.id}/resend`, { body: {} })).status).toBe(409);
    expect((await invite({ email: 'never@example.com' })).status).toBe(200);
  });

  it('can be listed by role, e-mail, status and part of the e-mail', async () => {
    await invite({ email: 'boss_1@example.com', role: 'admin' });
    const emails = async (query: string) =>
      (await plane.ask('GET', `/admin/users/invites?${query}`)).body.data.map((one: { email: string }) => one.email);
    expect(await emails('role=admin')).toEqual(['boss_1@example.com']);
    expect(await emails('email=JOINER@example.com')).toEqual(['joiner@example.com']);
    expect(await emails('search=boss_')).toEqual(['boss_1@example.com']);
    expect(await emails('search=%25')).toEqual([]);
    expect(await emails('status=cancelled')).toEqual(['never@example.com']);
    expect(await emails('status=pending&pageSize=1&currentPage=0')).toEqual(['boss_1@example.com']);
  });

  it('skip workspaces that no longer exist at acceptance', async () => {
    const workspace = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Short' } })).body;
    const { body: made } = await invite({ email: 'orphan@example.com', workspaces: [{ id: workspace.id, role: 'admin' }] });
    const gone = await plane.ask('DELETE', `/admin/workspaces/${workspace.id}`, { body: { name: 'Short', force_delete: true } });
    expect(gone.status, JSON.stringify(gone.body)).toBe(200);
    expect((await accept(plane, tokenOf(made.invite_link))).body.user.workspace_ids).toEqual([]);
  });
});
