import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKeys } from '../../../admin/resources/api-keys/entity.ts';
import { parseApiKey } from '../../../core/contract/values/credentials/api-key.ts';
import { accept, newPerson, tokenOf } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('rights cannot be extended through another key, link or user, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' });
  });
  afterAll(() => plane?.close());

  async function idOf(key: string): Promise<string> {
    const em = plane.control.services.database.em();
    return (await em.findOneOrFail(apiKeys, { publicId: parseApiKey(key)?.id ?? '' })).id;
  }

  const rotate = (id: string, key: string) => plane.ask('POST', `/api-keys/${id}/rotate`, { key, body: {} });

  it('rotating a key needs its scopes, because the new secret has them', async () => {
    const weak = await plane.newKey(['workspace_service_api_keys.rotate', 'configs.list']);
    const strong = await idOf(await plane.newKey(['configs.list', 'configs.create']));
    const equal = await idOf(await plane.newKey(['configs.list']));
    const refused = await rotate(strong, weak);
    expect([refused.status, refused.body.data.message]).toEqual([403, expect.stringContaining('configs.create')]);
    expect((await rotate(equal, weak)).status).toBe(200);
    expect((await rotate(await idOf(weak), weak)).status).toBe(200);
  });

  it('only owners can change the key of the first start, which acts as an owner', async () => {
    const first = await idOf(plane.adminKey);
    const admin = await newPerson(plane, 'admin');
    const key = await plane.newKey(
      ['organisation_service_api_keys.rotate', 'organisation_service_api_keys.delete', 'organisation_service_api_keys.update'],
      'organisation/service',
    );
    for (const who of [admin.token, key]) {
      expect((await rotate(first, who)).status).toBe(403);
      expect((await plane.ask('DELETE', `/api-keys/${first}`, { key: who })).status).toBe(403);
      expect((await plane.ask('PUT', `/api-keys/${first}`, { key: who, body: { name: 'mine' } })).status).toBe(403);
    }
    expect((await plane.ask('GET', `/api-keys/${first}`, { key: admin.token })).status).toBe(200);
  });

  it('users can rotate their own keys with any scopes, but not such keys of others', async () => {
    const path = [{ id: plane.workspaceId, role: 'manager' as const }];
    const [person, other] = [await newPerson(plane, 'member', path), await newPerson(plane, 'member', path)];
    const made = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { workspace_id: plane.workspaceId, user_id: person.id, name: 'own', scopes: ['secret_references.list'] },
    });
    expect((await rotate(made.body.id, other.token)).status).toBe(403);
    expect((await rotate(made.body.id, person.token)).status).toBe(200);
  });

  describe('a key that can only create users', () => {
    const scopes = ['organisation_users.create', 'organisation_users.update'];
    const admins = () => [{ id: plane.workspaceId, role: 'admin' }];
    let key: string;
    beforeAll(async () => {
      key = await plane.newKey(scopes, 'organisation/service');
    });

    it('gets no link to a user with more rights in a workspace', async () => {
      const body = { email: 'made-by-key@example.com', role: 'member', workspaces: admins() };
      const made = await plane.ask('POST', '/users', { key, body });
      expect([made.status, made.body.data?.set_password_link]).toEqual([403, undefined]);
      const invited = await plane.ask('POST', '/admin/users/invites', { key, body });
      expect([invited.status, invited.body.invite_link]).toEqual([403, undefined]);
      const plain = await plane.ask('POST', '/users', { key, body: { ...body, workspaces: [] } });
      expect(plain.status).toBe(200);
      const moved = await plane.ask('PUT', `/admin/users/${plain.body.id}`, { key, body: { workspaces: admins() } });
      expect(moved.status).toBe(403);
    });

    it('cannot take over a user with more rights in a workspace, by a new password or a new invite', async () => {
      const manager = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
      const reset = await plane.ask('POST', `/admin/users/${manager.id}/password-reset`, { key, body: {} });
      expect([reset.status, reset.body.reset_link]).toEqual([403, undefined]);
      const email = 'invited-by-admin@example.com';
      const invite = await plane.ask('POST', '/admin/users/invites', { body: { email, role: 'member', workspaces: admins() } });
      const again = await plane.ask('POST', `/admin/users/invites/${invite.body.id}/resend`, { key, body: {} });
      expect([again.status, again.body.inviteLink]).toEqual([403, undefined]);
    });
  });

  it('a key that only manages members of workspaces cannot give a role with more rights than its own', async () => {
    const members = ['workspace_users.create', 'workspace_users.update', 'workspaces.create'];
    const key = await plane.newKey(members, 'organisation/service');
    const [inside, outside] = [
      await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]),
      await newPerson(plane),
    ];
    const users = `/workspaces/${plane.workspaceId}/users`;
    const added = [{ id: outside.id, role: 'admin' }];
    for (const reply of [
      await plane.ask('PUT', `${users}/${inside.id}`, { key, body: { role: 'admin' } }),
      await plane.ask('POST', users, { key, body: { users: added } }),
      await plane.ask('POST', '/workspaces', { key, body: { name: 'with an admin', users: added } }),
    ]) {
      expect([reply.status, reply.body.data?.message]).toEqual([403, expect.stringContaining('cannot grant the role admin')]);
    }
    expect((await plane.ask('GET', `${users}/${inside.id}`)).body.role).toBe('member');
    expect((await plane.ask('PUT', `${users}/${inside.id}`, { body: { role: 'admin' } })).status).toBe(200);
  });

  describe('admins cannot change what owners hide from them', () => {
    const organisation = '/organisations/self';
    const settings = (path: string, key: string | undefined, body: unknown) =>
      plane.ask('PUT', path, { body, ...(key ? { key } : {}) });
    const mayNot = async (reply: Promise<{ status: number; body: { data?: { message?: string } } }>) => {
      const { status, body } = await reply;
      expect([status, body.data?.message]).toEqual([403, expect.stringContaining('only owners')]);
    };
    const sight = (seen: boolean) => ({ security_settings: { organisationAdminsViewLogs: seen } });

    it('in the organisation', async () => {
      const [admin, owner] = [await newPerson(plane, 'admin'), await newPerson(plane, 'owner')];
      const key = await plane.newKey(['organisation_settings.update'], 'organisation/service');
      expect((await settings(organisation, owner.token, sight(false))).status).toBe(200);
      for (const who of [admin.token, key]) {
        await mayNot(settings(organisation, who, sight(true)));
        expect((await settings(organisation, who, { ...sight(false), name: 'as it was' })).status).toBe(200);
      }
      expect((await settings(organisation, owner.token, sight(true))).status).toBe(200);
      expect((await settings(organisation, admin.token, sight(false))).status).toBe(200);
      expect((await settings(organisation, owner.token, sight(true))).status).toBe(200);
    });

    it('in a workspace that overrides it, nor by removing the override', async () => {
      const [admin, owner] = [await newPerson(plane, 'admin'), await newPerson(plane, 'owner')];
      const workspace = `/workspaces/${(await plane.ask('POST', '/workspaces', { body: { name: 'quiet' } })).body.id}`;
      expect((await settings(organisation, owner.token, { override_settings: { logs: true } })).status).toBe(200);
      expect((await settings(workspace, owner.token, sight(false))).status).toBe(200);
      await mayNot(settings(workspace, admin.token, sight(true)));
      await mayNot(settings(organisation, admin.token, { override_settings: { logs: false } }));
      expect((await settings(organisation, owner.token, { override_settings: { logs: false } })).status).toBe(200);
    });
  });

  it('the key of an invite expires no later than the workspace allows for keys of users', async () => {
    const made = await plane.ask('POST', '/workspaces', { body: { name: 'short keys' } });
    const set = await plane.ask('PUT', `/workspaces/${made.body.id}`, { body: { settings: { user_api_key_ttl: 3_600 } } });
    expect(set.status, JSON.stringify(set.body)).toBe(200);
    const invite = await plane.ask('POST', '/admin/users/invites', {
      body: {
        email: 'short@example.com',
        role: 'member',
        workspaces: [{ id: made.body.id, role: 'member' }],
        workspace_api_key_details: { scopes: ['completions.write'] },
      },
    });
    const accepted = await accept(plane, tokenOf(invite.body.invite_link));
    const read = await plane.ask('GET', `/api-keys/${accepted.body.api_keys[0].id}`);
    const lifeMs = Date.parse(read.body.expires_at) - Date.parse(read.body.created_at);
    expect(lifeMs).toBeGreaterThan(0);
    expect(lifeMs).toBeLessThanOrEqual(3_601_000);
  });
});
