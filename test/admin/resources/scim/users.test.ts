import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newGrant } from '../../support/oauth-grant.ts';
import { login, newPerson, tokenOf } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { patch, type ScimAsk, scimClient, scimClientWith } from '../../support/scim-client.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';

describe.each(ruleDatabases)('SCIM users, on %s', (database) => {
  let plane: Plane;
  let scim: ScimAsk;
  let made = 0;
  beforeAll(async () => {
    plane = await startPlane(database);
    scim = await scimClient(plane);
  });
  afterAll(() => plane?.close());

  async function newUser(more: object = {}) {
    const userName = `scim-${++made}@example.com`;
    const reply = await scim('POST', '/Users', { schemas: [userSchema], userName, ...more });
    expect(reply.body).toMatchObject({ userName });
    return reply.body;
  }

  it('are created, read, replaced and removed', async () => {
    const sent = {
      schemas: [userSchema],
      userName: 'Ada@example.com',
      externalId: 'e-1',
      name: { givenName: 'Ada', familyName: 'Lovelace', formatted: 'Ada Lovelace' },
      displayName: 'Ada L.',
      title: 'Analyst',
      emails: [{ value: 'ada@example.com', type: 'work', primary: true }],
      active: true,
    };
    const created = await scim('POST', '/Users', sent);
    expect(created.status).toBe(201);
    expect(created.headers.get('content-type')).toBe('application/scim+json');
    const { id } = created.body;
    expect(created.headers.get('location')).toBe(created.body.meta.location);
    expect(created.body).toEqual({
      ...sent,
      id,
      roles: [{ value: 'member', primary: true }],
      groups: [],
      meta: expect.objectContaining({ resourceType: 'User', version: created.headers.get('etag') }),
    });
    expect((await scim('GET', `/Users/${id}`)).body).toEqual(created.body);
    const unchanged = await scim('GET', `/Users/${id}`, undefined, { 'if-none-match': created.body.meta.version });
    expect(unchanged.status).toBe(304);
    const shown = (await plane.ask('GET', `/admin/users/${id}`)).body;
    expect(shown).toMatchObject({ email: 'ada@example.com', first_name: 'Ada', last_name: 'Lovelace', role: 'member' });

    const put = await scim('PUT', `/Users/${id}`, { schemas: [userSchema], userName: 'ada@example.com', emails: sent.emails });
    expect(put.status).toBe(200);
    expect(put.body).not.toHaveProperty('title');
    expect(put.body).toMatchObject({ userName: 'ada@example.com', active: true });
    const stale = await scim('PUT', `/Users/${id}`, sent, { 'if-match': created.body.meta.version });
    expect(stale.status).toBe(412);

    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204);
    expect((await scim('GET', `/Users/${id}`)).status).toBe(404);
    expect((await plane.ask('GET', `/admin/users/${id}`)).status).toBe(404);
  });

  it('are created once with an idempotency-key, and the second request gets the same reply', async () => {
    const sent = { schemas: [userSchema], userName: `once-${++made}@example.com` };
    const create = () => scim('POST', '/Users', sent, { 'idempotency-key': 'once' });
    const [first, again] = [await create(), await create()];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    for (const name of ['content-type', 'location', 'etag']) expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
  });

  it('write nothing if nothing changes', async () => {
    const user = await newUser({ name: { givenName: 'A' }, emails: [{ value: `same-${made}@example.com`, type: 'work' }] });
    const before = await plane.auditCount();
    const { id, userName, name, emails } = user;
    const put = await scim('PUT', `/Users/${id}`, { schemas: [userSchema], userName, name, emails, active: true });
    const patched = await scim('PATCH', `/Users/${id}`, patch({ op: 'Replace', path: 'name.givenName', value: 'A' }));
    expect([put.body, patched.body]).toEqual([user, user]);
    expect(await plane.auditCount()).toBe(before);
  });

  it('lose keys, sessions and memberships in the transaction that deactivates them, and cannot sign in', async () => {
    const person = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    const key = await plane.ask('POST', '/api-keys/workspace/user', {
      body: { name: 'K', scopes: ['completions.write'], user_id: person.id, workspace_id: plane.workspaceId },
    });
    expect(key.status).toBe(200);
    const grant = await newGrant(plane, { workspaceId: plane.workspaceId, userId: person.id });
    const from = plane.notices.length;
    const off = await scim('PATCH', `/Users/${person.id}`, patch({ op: 'Replace', path: 'active', value: 'False' }));
    expect(off.body).toMatchObject({ id: person.id, active: false });
    expect(plane.notices.slice(from)).toContainEqual(expect.objectContaining({ kind: 'api-key', op: 'delete' }));
    expect(plane.notices.slice(from)).toContainEqual(expect.objectContaining({ kind: 'oauth-grant', id: grant, op: 'delete' }));
    expect((await plane.ask('GET', '/auth/sessions', { key: person.token })).status).toBe(401);
    expect((await plane.ask('GET', `/api-keys/${key.body.id}`)).status).toBe(404);
    expect((await plane.ask('GET', `/admin/workspaces/${plane.workspaceId}/users/${person.id}`)).status).toBe(404);
    expect((await plane.ask('GET', `/admin/users/${person.id}`)).status).toBe(404);
    expect((await login(plane, person.email, person.password)).status).toBe(401);
    const again = await plane.ask('POST', '/users', { body: { email: person.email, role: 'member' } });
    expect(again).toMatchObject({ status: 409, body: { data: { message: expect.stringContaining('deactivated') } } });
    expect((await scim('GET', `/Users?filter=${encodeURIComponent(`userName eq "${person.email}"`)}`)).body).toMatchObject({
      totalResults: 1,
      Resources: [{ id: person.id, active: false }],
    });

    const on = await scim('PATCH', `/Users/${person.id}`, patch({ op: 'replace', value: { active: true } }));
    expect(on.body.active).toBe(true);
    expect((await plane.ask('GET', `/admin/users/${person.id}`)).body.email).toBe(person.email);
    expect((await login(plane, person.email, person.password)).status).toBe(200);
  });

  it('lose the links that were mailed to their previous address', async () => {
    const made = (await plane.ask('POST', '/users', { body: { email: 'before@example.com', role: 'member' } })).body;
    const { verification_link } = (
      await plane.ask('POST', '/users/send-verification-email', { body: { email: 'before@example.com' } })
    ).body;
    const emails = [{ value: 'after@example.com', primary: true }];
    const renamed = await scim('PATCH', `/Users/${made.id}`, patch({ op: 'replace', path: 'emails', value: emails }));
    expect(renamed.body).toMatchObject({ emails });
    const body = { token: tokenOf(made.set_password_link), password: 'correct horse battery' };
    expect((await plane.ask('POST', '/auth/password/reset', { key: null, body })).status).toBe(404);
    const verifying = { token: tokenOf(verification_link) };
    expect((await plane.ask('POST', '/auth/verify-email', { key: null, body: verifying })).status).toBe(404);
    const { body: user } = await plane.ask('GET', `/admin/users/${made.id}`);
    expect(user).toMatchObject({ email: 'after@example.com', email_verified_at: null });
  });

  it('get the new e-mail of the directory if they existed before it', async () => {
    const { id, email } = await newPerson(plane);
    const work = `emails[type eq "work" and value eq "${email}"]`;
    expect((await scim('GET', `/Users?filter=${encodeURIComponent(work)}`)).body).toMatchObject({ Resources: [{ id }] });
    const path = 'emails[type eq "work"].value';
    const adopted = await scim('PATCH', `/Users/${id}`, patch({ op: 'Add', path, value: email }));
    expect(adopted.body.emails).toEqual([{ value: email, type: 'work', primary: true }]);
    const value = `renamed-${email}`;
    const renamed = await scim('PATCH', `/Users/${id}`, patch({ op: 'Replace', path, value }));
    expect(renamed.body.emails).toEqual([{ value, type: 'work', primary: true }]);
    expect((await plane.ask('GET', `/admin/users/${id}`)).body.email).toBe(value);
  });

  it('cannot deactivate, remove or rename owners of the organisation', async () => {
    const owner = await newPerson(plane, 'owner');
    const changes: [string, unknown?][] = [
      ['DELETE'],
      ['PATCH', patch({ op: 'replace', path: 'active', value: false })],
      ['PATCH', patch({ op: 'replace', path: 'emails', value: [{ value: 'attacker@example.com', primary: true }] })],
    ];
    for (const [method, body] of changes) {
      expect(await scim(method, `/Users/${owner.id}`, body)).toMatchObject({ status: 403, body: { status: '403' } });
    }
    const demoted = await scim(
      'PATCH',
      `/Users/${owner.id}`,
      patch({ op: 'replace', path: 'roles', value: [{ value: 'member' }] }),
    );
    expect(demoted).toMatchObject({ status: 200, body: { roles: [{ value: 'owner' }] } });
    expect((await plane.ask('GET', `/admin/users/${owner.id}`)).body).toMatchObject({ role: 'owner', email: owner.email });
  });

  it('refuse invalid and taken values with the name of the field', async () => {
    const user = await newUser();
    const cases: [body: unknown, status: number, scimType: string, detail: string][] = [
      [{ schemas: [userSchema] }, 400, 'invalidValue', 'userName: '],
      [{ userName: 'no address' }, 400, 'invalidValue', 'emails: '],
      [{ userName: 'x@example.com', emails: [{ value: 'nothing' }] }, 400, 'invalidValue', 'emails[0].value: '],
      [{ userName: user.userName.toUpperCase() }, 409, 'uniqueness', 'emails: '],
      [{ userName: user.userName.toUpperCase(), emails: [{ value: 'free@example.com' }] }, 409, 'uniqueness', 'userName: '],
      ['"text"', 400, 'invalidSyntax', 'body: '],
    ];
    for (const [body, status, scimType, detail] of cases) {
      const reply = await scim('POST', '/Users', body);
      expect(reply.body).toEqual({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: String(status),
        scimType,
        detail: expect.stringContaining(detail),
      });
      expect(reply.status).toBe(status);
    }
  });

  it('have addresses in the domains that the organisation allows, also after a change', async () => {
    const { id, userName } = await newUser();
    const allow = (...domains: string[]) =>
      plane.ask('PUT', '/organisations/self/auth-settings', {
        body: { allowed_email_domains: domains.map((domain) => ({ domain })) },
      });
    await allow('example.com');
    const emails = [{ value: 'ada@elsewhere.example', primary: true }];
    const body = { schemas: [userSchema], userName, emails };
    expect((await scim('POST', '/Users', { ...body, userName: 'new@example.com' })).status).toBe(400);
    expect((await scim('PUT', `/Users/${id}`, body)).status).toBe(400);
    expect((await plane.ask('GET', `/admin/users/${id}`)).body.email).toBe(userName);
    await allow();
    expect((await scim('PUT', `/Users/${id}`, body)).status).toBe(200);
  });

  it('are the same with their domain in Unicode and in ASCII', async () => {
    const [wide, plain] = ['idn@b\u00fccher.example', 'idn@xn--bcher-kva.example'];
    const made = await scim('POST', '/Users', {
      schemas: [userSchema],
      userName: wide,
      emails: [{ value: wide, primary: true }],
    });
    expect((await plane.ask('GET', `/admin/users/${made.body.id}`)).body.email).toBe(plain);
    expect((await scim('POST', '/Users', { schemas: [userSchema], userName: plain })).status).toBe(409);
    for (const value of [wide, plain, plain.toUpperCase()]) {
      for (const attribute of ['userName', 'emails.value']) {
        const filter = encodeURIComponent(`${attribute} eq "${value}"`);
        const found = await scim('GET', `/Users?filter=${filter}`);
        expect(
          found.body.Resources?.map(({ id }: { id: string }) => id),
          filter,
        ).toEqual([made.body.id]);
      }
    }
    const parts = ['ew "@b\u00fccher.example"', 'ew "@XN--BCHER-KVA.example"', 'co "@B\u00dcCHER"', 'sw "IDN@xn--bcher-kva"'];
    for (const part of parts) {
      for (const attribute of ['userName', 'emails.value']) {
        const found = await scim('GET', `/Users?filter=${encodeURIComponent(`${attribute} ${part}`)}`);
        expect([part, found.body.Resources?.map(({ id }: { id: string }) => id)]).toEqual([part, [made.body.id]]);
      }
    }
  });

  it.each(['%', 'ada lovelace', 'a@no domain%'])(
    'are not found by a part that is no address and that none has: %s',
    async (part) => {
      await newUser();
      for (const op of ['sw', 'co', 'ew', 'eq']) {
        for (const attribute of ['userName', 'emails.value']) {
          const found = await scim('GET', `/Users?filter=${encodeURIComponent(`${attribute} ${op} "${part}"`)}`);
          expect([op, found.body.totalResults]).toEqual([op, 0]);
        }
      }
    },
  );

  it('have all attributes if an empty list of attributes is asked for', async () => {
    const user = await newUser();
    for (const name of ['attributes', 'excludedAttributes'])
      expect((await scim('GET', `/Users/${user.id}?${name}=`)).body).toEqual(user);
    const filter = `userName eq "${user.userName}"`;
    const found = await scim('POST', '/Users/.search', { filter, attributes: [] });
    expect(found.body.Resources).toEqual([user]);
  });

  it('are found by a search with the query in the body', async () => {
    const user = await newUser({ displayName: 'Search me' });
    const filter = `userName eq "${user.userName}"`;
    const found = await scim('POST', '/Users/.search', { filter, attributes: ['displayName'], startIndex: 1, count: 5 });
    expect(found).toMatchObject({ status: 200, body: { totalResults: 1, startIndex: 1 } });
    const { schemas, id, meta } = user;
    expect(found.body.Resources).toEqual([{ schemas, id, displayName: 'Search me', meta }]);
    const groups = await scim('POST', '/Groups/.search', { filter: 'displayName eq "none"', excludedAttributes: ['members'] });
    expect(groups.body).toMatchObject({ totalResults: 0, Resources: [] });
    expect(await scim('POST', '/Users/.search', { filter: 'password eq "x"' })).toMatchObject({
      status: 400,
      body: { scimType: 'invalidFilter' },
    });
  });

  it('have errors of the protocol on every path, also on those that do not exist', async () => {
    const { id } = await newUser();
    const cases: [method: string, path: string, body: unknown, status: number][] = [
      ['GET', '/Nothing', undefined, 404],
      ['GET', '/Users/not-an-id', undefined, 404],
      ['DELETE', '/Schemas', undefined, 405],
      ['GET', '/Me', undefined, 501],
      ['POST', '/Bulk', {}, 501],
      ['POST', '/.search', {}, 501],
      ['PATCH', `/Users/${id}`, patch({ op: 'remove', path: 'active' }), 400],
      ['PATCH', `/Users/${id}`, patch({ op: 'move', path: 'active' }), 400],
    ];
    for (const [method, path, body, status] of cases) {
      const reply = await scim(method, path, body);
      const error = { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: String(status) };
      expect({ path, status: reply.status, body: reply.body }).toMatchObject({ path, status, body: error });
      expect(reply.headers.get('content-type')).toBe('application/scim+json');
    }
  });

  it('need a SCIM token, and say so in the way of bearer tokens', async () => {
    for (const authorization of ['', 'Basic YTpi', `Bearer svc_scim_${'a'.repeat(43)}`]) {
      const reply = await scim('GET', '/Users', undefined, { authorization });
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(reply.body.detail).toContain('SCIM token');
    }
  });

  it('belong to the organisation of the token, which reaches nothing else', async () => {
    const other = await plane.newTenant();
    const theirs = await scimClient(plane, other);
    const user = await newUser();
    expect((await theirs('GET', `/Users/${user.id}`)).status).toBe(404);
    expect((await theirs('DELETE', `/Users/${user.id}`)).status).toBe(404);
    expect((await theirs('GET', '/Users')).body.totalResults).toBe(0);
    const token = (await plane.ask('POST', '/scim/tokens', { body: {} })).body.token;
    expect((await scimClientWith(plane, other.organisationId, token)('GET', '/Users')).status).toBe(404);
    for (const path of ['/admin/users', '/scim/tokens', '/organisations/self', '/configs']) {
      expect((await plane.ask('GET', path, { key: token })).status).toBe(403);
    }
    expect((await scimClientWith(plane, plane.organisationId, plane.adminKey)('GET', '/Users')).status).toBe(403);
    expect((await scimClientWith(plane, plane.organisationId, `svc_scim_${'a'.repeat(43)}`)('GET', '/Users')).status).toBe(401);
  });
});

describe.each(ruleDatabases)('SCIM tokens, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('are shown once, rotate with a transition, and end at once when deleted', async () => {
    const made = (await plane.ask('POST', '/scim/tokens', { body: { name: 'Entra ID' } })).body;
    expect(made.base_url).toContain(`/v1/scim/${plane.organisationId}`);
    const status = async (token: string) => (await scimClientWith(plane, plane.organisationId, token)('GET', '/Schemas')).status;
    expect(await status(made.token)).toBe(200);
    const read = await plane.ask('GET', `/scim/tokens/${made.id}`);
    expect(read.body).toMatchObject({ name: 'Entra ID', last_used_at: expect.any(String) });
    expect(JSON.stringify([read.body, (await plane.ask('GET', '/scim/tokens')).body])).not.toContain(made.token);
    const rotated = (await plane.ask('POST', `/scim/tokens/${made.id}/rotate`, { body: { transition_period_ms: 60_000 } })).body;
    expect([await status(made.token), await status(rotated.token)]).toEqual([200, 200]);
    const last = (await plane.ask('POST', `/scim/tokens/${made.id}/rotate`, { body: {} })).body;
    expect([await status(rotated.token), await status(last.token)]).toEqual([401, 200]);
    expect((await plane.ask('DELETE', `/scim/tokens/${made.id}`)).status).toBe(200);
    expect(await status(last.token)).toBe(401);
  });

  it('need the rights of an admin', async () => {
    const key = await plane.newKey(['organisation_settings.update', 'organisation_settings.read'], 'organisation/service');
    expect((await plane.ask('POST', '/scim/tokens', { key, body: {} })).status).toBe(403);
  });
});
