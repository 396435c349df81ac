import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopesByType } from '../../../../admin/access/scopes.ts';
import { apiKeys } from '../../../../admin/resources/api-keys/entity.ts';
import { parseApiKey } from '../../../../core/contract/values/credentials/api-key.ts';
import { expectRefusal } from '../../support/outcomes.ts';
import { accept, newPerson, tokenOf } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('an invite grants at most the current rights of its sender, on %s', (database) => {
  let plane: Plane;
  let count = 0;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  interface Sent {
    readonly id: string;
    readonly token: string;
  }

  async function invite(key: string, body: Record<string, unknown> = {}): Promise<Sent> {
    const email = `invited-${++count}@example.com`;
    const reply = await plane.ask('POST', '/admin/users/invites', {
      key,
      body: { email, role: 'member', workspaces: [], ...body },
    });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return { id: reply.body.id, token: tokenOf(reply.body.invite_link) };
  }

  /** Expects that the invite fails, creates no user, and writes an audit entry. */
  async function expectUseless({ token }: Sent): Promise<void> {
    const people = async () => (await plane.ask('GET', '/admin/users')).body.total as number;
    const before = await people();
    const reply = await accept(plane, token);
    expect([reply.status, reply.body.data?.message]).toEqual([404, expect.stringContaining('has expired or was used')]);
    expect(await people()).toBe(before);
    await plane.control.services.background.settled();
    await plane.control.services.background.settled();
    expect(await plane.lastAudit()).toMatchObject({ action: 'accept', responseStatusCode: 404, errorCode: 'AB08' });
  }

  const setRole = async (id: string, role: string) =>
    expect((await plane.ask('PUT', `/admin/users/${id}`, { body: { role } })).status).toBe(200);
  const resend = (id: string, key: string) => plane.ask('POST', `/admin/users/invites/${id}/resend`, { key, body: {} });
  const rowOf = (key: string) =>
    plane.control.services.database.em().findOneOrFail(apiKeys, { publicId: parseApiKey(key)?.id ?? '' });

  it('invalid while its sender is not an admin, and valid again afterwards', async () => {
    const admin = await newPerson(plane, 'admin');
    const sent = await invite(admin.token, { role: 'admin' });
    await setRole(admin.id, 'member');
    await expectUseless(sent);
    await setRole(admin.id, 'admin');
    const reply = await accept(plane, sent.token);
    expect([reply.status, reply.body.user?.role]).toEqual([200, 'admin']);
  });

  it('invalid after its sender was removed, until another caller sends it again', async () => {
    const admin = await newPerson(plane, 'admin');
    const sent = await invite(admin.token);
    expect((await plane.ask('DELETE', `/admin/users/${admin.id}`)).status).toBe(200);
    await expectUseless(sent);
    const owner = await newPerson(plane, 'owner');
    const again = await resend(sent.id, owner.token);
    expect((await plane.ask('GET', `/admin/users/invites/${sent.id}`)).body.invited_by).toBe(owner.id);
    expect((await accept(plane, tokenOf(again.body.inviteLink))).status).toBe(200);
  });

  it('invalid after the sending key was deleted, has expired, or lacks a granted scope', async () => {
    const all = [...scopesByType['organisation-service']];
    const newKey = () => plane.newKey(all, 'organisation/service');
    const details = { workspace_api_key_details: { scopes: ['configs.create'] } };

    const deleted = await newKey();
    const first = await invite(deleted, details);
    expect((await plane.ask('DELETE', `/api-keys/${(await rowOf(deleted)).id}`)).status).toBe(200);
    await expectUseless(first);

    const ended = await newKey();
    const second = await invite(ended, details);
    const em = plane.control.services.database.em();
    await em.nativeUpdate(apiKeys, { id: (await rowOf(ended)).id }, { expiresAt: new Date(Date.now() - 1_000) });
    await expectUseless(second);

    const narrowed = await newKey();
    const third = await invite(narrowed, details);
    const body = { scopes: all.filter((scope) => scope !== 'configs.create') };
    expect((await plane.ask('PUT', `/api-keys/${(await rowOf(narrowed)).id}`, { body })).status).toBe(200);
    await expectUseless(third);
  });

  it('invalid outside the domains that the organisation has set since, and cannot be sent there again', async () => {
    const sent = await invite(plane.adminKey, { email: 'early@elsewhere.example' });
    const allow = async (...domains: string[]) => {
      const body = { allowed_email_domains: domains.map((domain) => ({ domain })) };
      expect((await plane.ask('PUT', '/organisations/self/auth-settings', { body })).status).toBe(200);
    };
    await allow('example.com');
    await expectUseless(sent);
    expect((await resend(sent.id, plane.adminKey)).body.data?.message).toContain('email: ');
    await allow();
    expect((await accept(plane, sent.token)).status).toBe(200);
  });

  it('without workspaces grants membership of the default workspace, which a key with fewer scopes cannot', async () => {
    const weak = await plane.newKey(['organisation_users.create'], 'organisation/service');
    const body = { email: 'outsider@example.com', role: 'member' };
    const send = () => plane.ask('POST', '/admin/users/invites', { key: weak, body });
    const { data } = (await expectRefusal(plane, send, 403, 'AB03', true)).body;
    expect(data.message).toContain('cannot grant the role member');

    // The default workspace has other settings by the time the invite is accepted.
    const everything = [...scopesByType['organisation-service']];
    const narrow = everything.filter((scope) => !scope.startsWith('prompts.'));
    const hide = (membersViewPrompts: boolean) =>
      plane.ask('PUT', '/organisations/self', { body: { security_settings: { membersViewPrompts } } });
    await hide(false);
    const sent = await invite(await plane.newKey(narrow, 'organisation/service'));
    await hide(true);
    await expectUseless(sent);
  });

  it('cannot be sent again by a key that lacks the scopes of its key', async () => {
    const sent = await invite(plane.adminKey, {
      workspaces: [],
      workspace_api_key_details: { scopes: ['configs.create'] },
    });
    const without = [...scopesByType['organisation-service']].filter((scope) => scope !== 'configs.create');
    const reply = await resend(sent.id, await plane.newKey(without, 'organisation/service'));
    expect([reply.status, reply.body.data?.message]).toEqual([403, expect.stringContaining('configs.create')]);
    expect((await accept(plane, sent.token)).status).toBe(200);
  });
});
