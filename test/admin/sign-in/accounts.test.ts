import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addMails } from '../../../admin/mail/add-mails.ts';
import { mails } from '../../../admin/mail/entity.ts';
import { userInvites } from '../../../admin/resources/user-invites/entity.ts';
import { users } from '../../../admin/resources/users/entity.ts';
import { accept, login, newPerson, tokenOf } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { addVerifiedDomain, arrive, newConnection, verifiedDomain } from '../support/sign-in.ts';
import { ruleDatabases } from '../support/test-database.ts';

let count = 0;

describe.each(ruleDatabases)('accounts of single sign-on, on %s', (database) => {
  const records = new Map<string, string[][]>();
  let plane: Plane;
  beforeAll(async () => {
    const unlimited = { ADMIN_REQUESTS_PER_ADDRESS: '0', ADMIN_REQUESTS_PER_KEY: '0' };
    plane = await startPlane(database, unlimited, {
      resolveTxt: async (name) => {
        const found = records.get(name);
        if (!found) throw Object.assign(new Error('queryTxt ENOTFOUND'), { code: 'ENOTFOUND' });
        return found;
      },
    });
  });
  afterAll(() => plane?.close());

  const subject = () => `user-${++count}`;
  const newWorkspace = async () => (await plane.ask('POST', '/workspaces', { body: { name: `W ${++count}` } })).body.id as string;
  const roleIn = async (userId: string, workspaceId: string) => {
    const reply = await plane.ask('GET', `/admin/workspaces/${workspaceId}/users/${userId}`);
    return reply.status === 200 ? reply.body.role : null;
  };

  it('get role and memberships by the groups of each sign-in, and keep those that no rule gave', async () => {
    const [one, two, own] = [await newWorkspace(), await newWorkspace(), await newWorkspace()];
    const connectionId = await newConnection(plane, {
      group_rules: [
        { group: 'readers', workspaces: [{ id: one, role: 'viewer' }] },
        {
          group: 'builders',
          workspaces: [
            { id: one, role: 'manager' },
            { id: two, role: 'member' },
          ],
        },
        { group: 'admins', role: 'admin' },
      ],
    });
    const who = { connectionId, subject: subject() };
    const { user } = await arrive(plane, { ...who, groups: ['readers', 'builders', 'unknown'] });
    expect(user.role).toBe('member');
    expect([await roleIn(user.id, one), await roleIn(user.id, two)]).toEqual(['manager', 'member']);
    expect(
      (await plane.ask('POST', `/admin/workspaces/${own}/users`, { body: { users: [{ id: user.id, role: 'member' }] } })).status,
    ).toBe(200);
    expect((await arrive(plane, { ...who, groups: ['readers'] })).user.role).toBe('member');
    expect([await roleIn(user.id, one), await roleIn(user.id, two), await roleIn(user.id, own)]).toEqual([
      'viewer',
      null,
      'member',
    ]);
    // A membership that an admin gave stays, although a rule names its workspace for a time.
    await plane.ask('POST', `/admin/workspaces/${two}/users`, { body: { users: [{ id: user.id, role: 'member' }] } });
    for (const groups of [['builders'], ['readers']]) await arrive(plane, { ...who, groups });
    expect(await roleIn(user.id, two)).toBe('member');
    expect((await arrive(plane, { ...who, groups: ['admins'] })).user.role).toBe('admin');
    expect((await arrive(plane, { ...who, groups: [] })).user.role).toBe('member');
    expect([await roleIn(user.id, one), await roleIn(user.id, own)]).toEqual([null, 'member']);
  });

  it('are not created for users without a group, and owners keep their role', async () => {
    const connectionId = await newConnection(plane, { group_rules: [{ group: 'admins', role: 'admin' }] });
    await expect(arrive(plane, { connectionId, subject: subject() })).rejects.toMatchObject({ reason: 'no_group' });
    const email = `owner-${++count}@${verifiedDomain}`;
    await plane.ask('POST', '/users', { body: { email, role: 'owner' } });
    const { user } = await arrive(plane, { connectionId, subject: subject(), email, groups: ['admins'] });
    expect(user).toMatchObject({ email, role: 'owner' });
  });

  it('keep their rights if the provider has their groups but does not send them: it sends none of users with many', async () => {
    const connectionId = await newConnection(plane, { group_rules: [{ group: 'admins', role: 'admin' }] });
    const who = { connectionId, subject: subject() };
    const { user } = await arrive(plane, { ...who, groups: ['admins'] });
    await expect(arrive(plane, { ...who, groups: null })).rejects.toMatchObject({ reason: 'groups_not_sent' });
    expect((await plane.ask('GET', `/admin/users/${user.id}`)).body.role).toBe('admin');
    const withoutRules = await newConnection(plane);
    expect((await arrive(plane, { connectionId: withoutRules, subject: subject(), groups: null })).user.role).toBe('member');
  });

  it('follow a pending invite, also when only invited users may sign in', async () => {
    const connectionId = await newConnection(plane);
    const workspace = await newWorkspace();
    const path = `/organisations/${plane.organisationId}/auth-settings`;
    await plane.ask('PUT', path, { body: { disable_auto_provision_user: true } });
    const email = `invited-${++count}@${verifiedDomain}`;
    const body = { email, role: 'member', workspaces: [{ id: workspace, role: 'manager' }] };
    const invite = await plane.ask('POST', '/admin/users/invites', { body });
    const { database, vault } = plane.control.services;
    const about = { resource: 'user_invites', uri: '/', id: invite.body.id, workspaceId: null };
    const mail = { kind: 'invite', about, organisationId: plane.organisationId, to: email, subject: 'S', text: 'T' } as const;
    await database.em().transactional((tx) => addMails(tx, vault, Date.now(), [mail]));
    const { user } = await arrive(plane, { connectionId, subject: subject(), email });
    expect(await database.em().count(mails)).toBe(0);
    expect(await roleIn(user.id, workspace)).toBe('manager');
    expect((await plane.ask('GET', `/admin/users/invites/${invite.body.id}`)).body.status).toBe('accepted');
    expect((await accept(plane, tokenOf(invite.body.invite_link))).status).toBe(404);
    await expect(arrive(plane, { connectionId, subject: subject() })).rejects.toMatchObject({ reason: 'provisioning_disabled' });
    const late = `late-${++count}@${verifiedDomain}`;
    const { id } = (await plane.ask('POST', '/admin/users/invites', { body: { ...body, email: late } })).body;
    const em = plane.control.services.database.em();
    await em.nativeUpdate(userInvites, { id }, { expiresAt: new Date(Date.now() - 1_000) });
    await expect(arrive(plane, { connectionId, subject: subject(), email: late })).rejects.toMatchObject({
      reason: 'provisioning_disabled',
    });
    // An admin who is no admin any more has sent an invite for another one.
    const sender = await newPerson(plane, 'admin');
    const sent = { email: `admin-${++count}@${verifiedDomain}`, role: 'admin' };
    const ofSender = await plane.ask('POST', '/admin/users/invites', { key: sender.token, body: { ...sent, workspaces: [] } });
    expect(ofSender.status).toBe(200);
    await plane.ask('PUT', `/admin/users/${sender.id}`, { body: { role: 'member' } });
    await expect(arrive(plane, { connectionId, subject: subject(), email: sent.email })).rejects.toMatchObject({
      reason: 'provisioning_disabled',
    });
    await plane.ask('PUT', path, { body: { disable_auto_provision_user: false } });
  });

  it('are not created outside allowed_email_domains, even in a verified domain', async () => {
    const connectionId = await newConnection(plane);
    const path = `/organisations/${plane.organisationId}/auth-settings`;
    await plane.ask('PUT', path, { body: { allowed_email_domains: [{ domain: 'other.example.org' }] } });
    await expect(arrive(plane, { connectionId, subject: subject() })).rejects.toMatchObject({ reason: 'domain_not_allowed' });
    await plane.ask('PUT', path, { body: { allowed_email_domains: [] } });
  });

  it('accounts of two protocols differ, even with one issuer and subject', async () => {
    const connectionId = await newConnection(plane);
    const shared = { connectionId, subject: subject() };
    const oidc = await arrive(plane, { ...shared, email: `a-${count}@${verifiedDomain}` });
    const saml = await arrive(plane, { ...shared, type: 'saml', email: `b-${count}@${verifiedDomain}` });
    expect(saml.user.id).not.toBe(oidc.user.id);
  });

  it('are refused for users whom a directory has deactivated, also at the first sign-in', async () => {
    const connectionId = await newConnection(plane);
    const who = { connectionId, subject: subject() };
    const { user } = await arrive(plane, who);
    const em = plane.control.services.database.em();
    await em.nativeUpdate(users, { id: user.id, organisationId: plane.organisationId }, { deactivatedAt: new Date() });
    await expect(arrive(plane, who)).rejects.toMatchObject({ reason: 'user_deactivated' });
    const other = { connectionId, subject: subject(), email: user.email };
    await expect(arrive(plane, other)).rejects.toMatchObject({ reason: 'user_deactivated' });
  });

  it('are created once by concurrent first sign-ins', async () => {
    const connectionId = await newConnection(plane);
    const who = { connectionId, subject: subject() };
    const all = await Promise.all(Array.from({ length: 4 }, () => arrive(plane, who)));
    expect(new Set(all.map(({ user }) => user.id)).size).toBe(1);
  });

  it('lose their sessions when their connection is disabled or deleted, and their users stay', async () => {
    const connectionId = await newConnection(plane);
    const who = { connectionId, subject: subject() };
    const { user, auth_token: disabled } = await arrive(plane, who);
    const enable = (enabled: boolean) => plane.ask('PUT', `/admin/sso-connections/${connectionId}`, { body: { enabled } });
    await enable(false);
    await expect(arrive(plane, who)).rejects.toMatchObject({ reason: 'connection_disabled' });
    expect((await plane.ask('GET', '/auth/self', { key: disabled })).status).toBe(401);
    await enable(true);
    const { auth_token: key } = await arrive(plane, who);
    expect((await plane.ask('GET', '/auth/self', { key })).status).toBe(200);
    expect((await plane.ask('DELETE', `/admin/sso-connections/${connectionId}`)).status).toBe(200);
    expect((await plane.ask('GET', '/auth/self', { key })).status).toBe(401);
    expect((await plane.ask('GET', `/admin/users/${user.id}`)).status).toBe(200);
  });

  describe('connections', () => {
    it('are for owners: an admin could sign in as an owner with a provider of their own', async () => {
      const admin = await newPerson(plane, 'admin');
      const owner = await newPerson(plane, 'owner');
      const id = await newConnection(plane);
      const ask = (key: string) => plane.ask('PUT', `/admin/sso-connections/${id}`, { key, body: { name: 'New' } });
      expect([(await ask(admin.token)).status, (await ask(owner.token)).status]).toEqual([403, 200]);
      expect((await plane.ask('DELETE', `/admin/sso-connections/${id}`, { key: admin.token })).status).toBe(403);
    });

    it('show a mask for the secret, and require it again when the issuer changes', async () => {
      const id = await newConnection(plane);
      const path = `/admin/sso-connections/${id}`;
      const { oidc } = (await plane.ask('GET', path)).body;
      expect(oidc).toMatchObject({ client_secret: '****ient', redirect_uri: expect.stringMatching(`/v2/auth/callback/${id}$`) });
      const put = (change: object) => plane.ask('PUT', path, { body: { oidc: change } });
      const moved = await put({ issuer: 'https://evil.example.com', client_secret: '****ient' });
      expect([moved.status, moved.body.data.errors]).toEqual([400, ['oidc.client_secret: required when the issuer changes']]);
      expect((await put({ client_secret: '****ient', scopes: ['openid', 'email', 'groups'] })).status).toBe(200);
      expect((await plane.ask('GET', path)).body.oidc).toMatchObject({
        client_secret: '****ient',
        scopes: ['openid', 'email', 'groups'],
      });
      expect(JSON.stringify(await plane.lastAudit())).not.toContain('the secret of the client');
    });

    it.each([
      [{ issuer: 'http://169.254.169.254' }, /^oidc\.issuer: /],
      [{ issuer: 'http://10.0.0.1' }, /^oidc\.issuer: /],
      [{ issuer: 'https://id.example.com?x=1' }, /^oidc\.issuer: /],
      [{ client_id: '' }, /^oidc\.client_id: /],
      [{ scopes: ['email'] }, /^oidc\.scopes: must contain openid/],
      [{ id_token_signing_alg: 'none' }, /^oidc\.id_token_signing_alg: /],
      [{ id_token_signing_alg: 'HS256' }, /^oidc\.id_token_signing_alg: /],
      [{ client_secret: undefined }, /^oidc\.client_secret: required with client_secret_basic/],
      [{ token_endpoint_auth_method: 'none' }, /^oidc\.token_endpoint_auth_method: /],
    ])('are rejected with %j', async (change, message) => {
      const oidc = { issuer: 'https://id.example.com', client_id: 'c', client_secret: 'a secret', ...change };
      const reply = await plane.ask('POST', '/admin/sso-connections', { body: { name: 'N', type: 'oidc', oidc } });
      expect([reply.status, reply.body.data.errors?.[0]]).toEqual([400, expect.stringMatching(message)]);
    });

    it('name the field of a workspace that does not exist', async () => {
      const id = await newConnection(plane);
      const group_rules = [{ group: 'g', workspaces: [{ id: 'nowhere', role: 'member' }] }];
      const reply = await plane.ask('PUT', `/admin/sso-connections/${id}`, { body: { group_rules } });
      expect([reply.status, reply.body.data.message]).toEqual([404, 'group_rules[0].workspaces[0].id: Workspace not found']);
      const owner = await plane.ask('PUT', `/admin/sso-connections/${id}`, {
        body: { group_rules: [{ group: 'g', role: 'owner' }] },
      });
      expect(owner.status).toBe(400);
    });
  });

  describe('e-mail domains', () => {
    it('count once their DNS record is there', async () => {
      const connectionId = await newConnection(plane);
      const made = await plane.ask('POST', '/admin/email-domains', {
        body: { domain: 'Bücher.Example.org', allow_subdomains: true },
      });
      expect(made.body).toMatchObject({ domain: 'xn--bcher-kva.example.org', status: 'pending', verified_at: null });
      const { name, value } = made.body.dns_record;
      const verify = () => plane.ask('POST', `/admin/email-domains/${made.body.id}/verify`, { body: {} });
      const visit = (email: string) => arrive(plane, { connectionId, subject: subject(), email });
      expect((await verify()).body.data.errors).toEqual([expect.stringMatching(/^domain: the TXT record .*ENOTFOUND/)]);
      records.set(name, [['svc-verification=other'], [`${value}x`]]);
      expect((await verify()).body.data.errors).toEqual([expect.stringMatching(/^domain: no TXT record .* has the value/)]);
      await expect(visit('a@bücher.example.org')).rejects.toMatchObject({ reason: 'domain_unverified' });
      // Long records arrive in chunks.
      records.set(name, [['unrelated'], [value.slice(0, 10), value.slice(10)]]);
      expect((await verify()).body).toMatchObject({ status: 'verified', verified_at: expect.any(String) });
      expect((await visit('a@bücher.example.org')).object).toBe('session');
      expect((await visit('a@deep.sub.xn--bcher-kva.example.org')).object).toBe('session');
      await plane.ask('PUT', '/admin/email-domains/xn--bcher-kva.example.org', { body: { allow_subdomains: false } });
      await expect(visit('b@sub.xn--bcher-kva.example.org')).rejects.toMatchObject({ reason: 'domain_unverified' });
      expect((await plane.ask('DELETE', `/admin/email-domains/${made.body.id}`)).status).toBe(200);
      await expect(visit('c@bücher.example.org')).rejects.toMatchObject({ reason: 'domain_unverified' });
    });

    it.each([
      [{ domain: 'localhost' }, 400, /^domain: a domain such as/],
      [{ domain: '10.0.0.1' }, 400, /^domain: a domain such as/],
      [{ domain: 'a..b' }, 400, /^domain: a domain such as/],
      [{ domain: 'x.parent.example.net', allow_subdomains: true }, 400, /^allow_subdomains: is for root domains only/],
      [{ domain: 'parent.example.net' }, 409, /^domain: the organisation already has/],
    ])('are rejected: %j', async (body, status, message) => {
      await addVerifiedDomain(plane, 'parent.example.net', true);
      const reply = await plane.ask('POST', '/admin/email-domains', { body });
      expect([reply.status, reply.body.data.message]).toEqual([status, expect.stringMatching(message)]);
    });

    it('domains of one organisation do not count in another', async () => {
      const other = await plane.newTenant();
      const oidc = { issuer: 'https://id.example.com', client_id: 'c', client_secret: 'a secret' };
      const body = { name: 'Other', type: 'oidc', oidc };
      const made = await plane.ask('POST', '/admin/sso-connections', { key: other.adminKey, body });
      expect(made.status).toBe(200);
      await newConnection(plane);
      const sent = { email: `a@${verifiedDomain}`, organisation_id: plane.organisationId, sso_client_id: made.body.id };
      expect((await plane.ask('POST', '/auth/login', { key: null, body: sent })).status).toBe(404);
    });
  });

  describe('pages', () => {
    const open = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${plane.url}/v1${path}`, { headers, redirect: 'manual' });

    it('ask for the sign-in, and lead on within this service only', async () => {
      const next = async (query: string) => {
        const page = await open(`/auth/sign-in${query}`);
        expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
        return /name="return_to" value="([^"]*)"/.exec(await page.text())?.[1];
      };
      expect(await next('?return_to=/console')).toBe('/console');
      expect(await next('?return_to=//evil.example')).toBe(await next(''));
      for (const path of ['/auth/signed-in', '/auth/signed-out']) expect((await open(path)).status).toBe(200);
    });
  });

  describe('tokens of sessions', () => {
    const refresh = (token: string, more: object = {}) =>
      plane.ask('POST', '/auth/refresh', { key: null, body: { refresh_token: token, ...more } });
    const stateOf = async (key: string) => (await plane.ask('GET', '/auth/self', { key })).status;
    const signedIn = async () => {
      const person = await newPerson(plane);
      return (await login(plane, person.email, person.password)).body;
    };

    it('are replaced together, and a refresh token that is used twice ends the session', async () => {
      const first = await signedIn();
      const second = await refresh(first.refresh_token, { organisation_id: plane.organisationId });
      expect(second.body).toMatchObject({ object: 'auth-token', expires_at: first.expires_at });
      expect([await stateOf(first.auth_token), await stateOf(second.body.auth_token)]).toEqual([401, 200]);
      const third = await refresh(second.body.refresh_token);
      expect(third.status).toBe(200);
      const before = await plane.auditCount();
      expect((await refresh(second.body.refresh_token)).status).toBe(401);
      await plane.control.services.background.settled();
      expect(await plane.auditCount()).toBe(before + 1);
      const entry = { action: 'refresh', responseStatusCode: 401, errorCode: 'AB05', userId: first.user.id };
      expect(await plane.lastAudit()).toMatchObject({ ...entry, requestBody: { reason: 'refresh_token_reused' } });
      expect(await stateOf(third.body.auth_token)).toBe(401);
      expect((await refresh(third.body.refresh_token)).status).toBe(401);
    });

    it('are not replaced with a forged token, or for another organisation', async () => {
      const { refresh_token: token, auth_token: key, user } = await signedIn();
      const forged = token.slice(0, 12) + 'A'.repeat(43) + token.slice(55);
      for (const wrong of ['', 'x', forged, token.slice(0, -1)]) expect((await refresh(wrong)).status).toBe(401);
      for (const [more, status] of [
        [{ organisation_id: plane.workspaceId }, 401],
        [{ unknown: 1 }, 400],
      ] as const) {
        expect((await refresh(token, more)).status).toBe(status);
        await plane.control.services.background.settled();
        const entry = { action: 'refresh', responseStatusCode: status, userId: user.id };
        expect(await plane.lastAudit()).toMatchObject(entry);
        expect(JSON.stringify(await plane.lastAudit())).not.toContain(token.slice(12));
      }
      expect(await stateOf(key)).toBe(200);
    });

    it('can be validated', async () => {
      const { auth_token: key } = await signedIn();
      const isValid = async (ask: object, query = '') =>
        (await plane.ask('GET', `/auth/validate-token${query}`, ask)).body.is_valid;
      expect(await isValid({ key })).toBe(true);
      expect(await isValid({ key }, `?organisation_id=${plane.organisationId}`)).toBe(true);
      expect(await isValid({ key }, `?organisation_id=${plane.workspaceId}`)).toBe(false);
      expect(await isValid({ key: null })).toBe(false);
      expect(await isValid({ key: `svc_session_${'A'.repeat(43)}` })).toBe(false);
      expect(await isValid({})).toBe(false);
    });

    it('end all at once, by their user and by an admin', async () => {
      const person = await newPerson(plane);
      const { auth_token: second } = (await login(plane, person.email, person.password)).body;
      const path = `/admin/users/${person.id}/sessions`;
      const { data } = (await plane.ask('GET', path)).body;
      expect(data).toHaveLength(2);
      expect((await plane.ask('DELETE', `${path}/${data[1].id}`)).status).toBe(200);
      expect([await stateOf(person.token), await stateOf(second)]).toEqual([401, 200]);
      expect((await plane.ask('DELETE', path)).status).toBe(200);
      expect(await stateOf(second)).toBe(401);
      const { auth_token: third } = (await login(plane, person.email, person.password)).body;
      const fourth = (await login(plane, person.email, person.password)).body.auth_token;
      expect((await plane.ask('DELETE', '/auth/sessions', { key: third })).status).toBe(200);
      expect([await stateOf(third), await stateOf(fourth)]).toEqual([401, 401]);
    });

    it('sessions of an owner can be ended by owners only', async () => {
      const [owner, admin] = [await newPerson(plane, 'owner'), await newPerson(plane, 'admin')];
      const path = `/admin/users/${owner.id}/sessions`;
      expect((await plane.ask('DELETE', path, { key: admin.token })).status).toBe(403);
      expect(await stateOf(owner.token)).toBe(200);
    });
  });
});
