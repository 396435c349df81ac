import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scopesOfUser } from '../../../../admin/access/user-scopes.ts';
import { removedUsers } from '../../../../admin/resources/users/entity.ts';
import { newSigningKey } from '../../../support/samples/tokens.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { newPerson } from '../../support/people.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { patch, scimClient } from '../../support/scim-client.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const key = newSigningKey('k1');
const path = '/organisations/self/auth-settings';

describe.each(ruleDatabases)('the JWT setting, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, { TRUSTED_CUSTOM_HOSTS: '127.0.0.1', GATEWAY_URL: 'http://127.0.0.1:9' });
  });
  afterAll(() => plane?.close());

  const put = (jwt: unknown) => plane.ask('PUT', path, { body: { jwt } });
  const stored = async () => (await plane.ask('GET', path)).body.data.jwt;
  const document = async (kind: string, id: string) =>
    (await plane.internal('GET', `/documents/${kind}/${encodeURIComponent(id)}`)).body.document;
  const changed = (events: string[]) => ({ resource: 'organisations', action: 'update', events });

  it('has URLs or keys, is announced to gateways, returned, and cleared with null', async () => {
    const organisation = `organisation ${plane.organisationId} upsert`;
    const keys = { jwks: { keys: [{ ...key.jwk, use: 'sig', alg: 'RS256', x5c: ['…'] }] }, issuer: 'https://id.example.com' };
    await expectChange(plane, () => put(keys), changed([organisation]));
    expect(await stored()).toEqual({
      jwks_url: null,
      jwks: { keys: [key.jwk] },
      issuer: 'https://id.example.com',
      audience: null,
      max_token_ttl: null,
    });
    expect(await document('organisation', plane.organisationId)).toEqual({
      id: plane.organisationId,
      jwt: { urls: [], keys: [key.jwk], issuer: 'https://id.example.com', audience: null, maxTtlSeconds: null },
    });

    const urls = {
      jwks_url: ' https://id.example.com/jwks, http://127.0.0.1:9000/a/?b=c ',
      audience: 'gateway',
      max_token_ttl: 3_600,
    };
    await expectChange(plane, () => put(urls), changed([organisation]));
    const jwks_url = 'https://id.example.com/jwks,http://127.0.0.1:9000/a/?b=c';
    expect(await stored()).toEqual({ jwks_url, jwks: null, issuer: null, audience: 'gateway', max_token_ttl: 3_600 });
    const { jwt } = await document('organisation', plane.organisationId);
    expect(jwt).toMatchObject({ urls: jwks_url.split(','), maxTtlSeconds: 3_600 });

    await expectChange(plane, () => plane.ask('PUT', path, { body: { disable_auto_provision_user: true } }), changed([]));
    expect((await stored()).jwks_url).toBe(jwks_url);
    await expectChange(plane, () => put(null), changed([organisation]));
    expect(await stored()).toBeNull();
    expect(await document('organisation', plane.organisationId)).toBeNull();
  });

  it('needs the rights that its tokens can have, in every workspace', async () => {
    const weak = await plane.newKey(['organisation_settings.update'], 'organisation/service');
    const body = { jwt: { jwks: { keys: [key.jwk] } } };
    await expectRefusal(plane, () => plane.ask('PUT', path, { key: weak, body }), 403, 'AB03', true);
    expect(await stored()).toBeNull();
    const others = { key: weak, body: { disable_auto_provision_user: false, jwt: null } };
    expect((await plane.ask('PUT', path, others)).status).toBe(200);
    const admin = await newPerson(plane, 'admin');
    expect((await plane.ask('PUT', path, { key: admin.token, body })).status).toBe(200);
    await put(null);
    // A token could read the logs that the owners hide from admins.
    const hide = (organisationAdminsViewLogs: boolean) =>
      plane.ask('PUT', '/organisations/self', { body: { security_settings: { organisationAdminsViewLogs } } });
    await hide(false);
    await expectRefusal(plane, () => plane.ask('PUT', path, { key: admin.token, body }), 403, 'AB03', true);
    await hide(true);
  });

  it('without a maximum lifetime from an older version means no limit', async () => {
    await put({ jwks_url: 'https://id.example.com/jwks' });
    const em = plane.control.services.database.em();
    await em.execute("update organisations set auth_settings = auth_settings #- '{jwt,max_token_ttl}'", [], 'run');
    expect((await stored()).max_token_ttl).toBeNull();
    expect((await document('organisation', plane.organisationId)).jwt.maxTtlSeconds).toBeNull();
    await put(null);
  });

  it.each([
    ['nothing', {}, 'either jwks_url or jwks'],
    ['both', { jwks_url: 'https://a.example.com', jwks: { keys: [key.jwk] } }, 'either jwks_url or jwks'],
    ['no keys', { jwks: { keys: [] } }, 'jwt.jwks.keys'],
    ['too many keys', { jwks: { keys: Array(101).fill(key.jwk) } }, 'jwt.jwks.keys'],
    ['the same kid twice', { jwks: { keys: [key.jwk, key.jwk] } }, 'jwt.jwks.keys[1].kid'],
    ['a short key', { jwks: { keys: [key.jwk, newSigningKey('s', 1024).jwk] } }, 'jwt.jwks.keys[1].n'],
    ['a key of another kind', { jwks: { keys: [{ kty: 'EC', kid: 'a' }] } }, 'jwt.jwks.keys[0].kty'],
    ['http', { jwks_url: 'http://id.example.com/jwks' }, 'jwt.jwks_url: URL 1'],
    ['a private address', { jwks_url: 'https://id.example.com,https://10.0.0.1/jwks' }, 'jwt.jwks_url: URL 2'],
    ['an empty URL', { jwks_url: 'https://id.example.com,' }, 'jwt.jwks_url: URL 2'],
    ['the same URL twice', { jwks_url: 'https://a.example.com,https://a.example.com' }, 'jwt.jwks_url'],
    ['many URLs', { jwks_url: Array.from({ length: 11 }, (_, i) => `https://a${i}.example.com`).join() }, 'jwt.jwks_url'],
    ['an empty issuer', { jwks_url: 'https://a.example.com', issuer: '' }, 'jwt.issuer'],
    ['a lifetime below a minute', { jwks_url: 'https://a.example.com', max_token_ttl: 59 }, 'jwt.max_token_ttl: at least 60'],
    ['a fraction of a second', { jwks_url: 'https://a.example.com', max_token_ttl: 60.5 }, 'jwt.max_token_ttl'],
    ['an unknown field', { jwks_url: 'https://a.example.com', algorithms: ['HS256'] }, 'jwt.algorithms'],
  ])('is rejected with %s, naming the field', async (_what, jwt, field) => {
    const reply = await expectRefusal(plane, () => put(jwt), 400, 'AB01', true);
    expect(JSON.stringify(reply.body)).toContain(field);
  });

  it('accepts no private key, and leaves none in the audit log', async () => {
    const secrets = { d: 'PRIVATE-D', p: 'PRIVATE-P', qi: 'PRIVATE-QI' };
    const reply = await expectRefusal(plane, () => put({ jwks: { keys: [{ ...key.jwk, ...secrets }] } }), 400, 'AB01', true);
    expect(reply.body.data.message).toBe(
      'jwt.jwks.keys[0].d: is a private parameter. Send public keys only, and replace this key',
    );
    await put({ jwks: JSON.stringify({ keys: [{ ...key.jwk, ...secrets }] }) });
    const from = new Date(Date.now() - 60_000).toISOString();
    const to = new Date(Date.now() + 60_000).toISOString();
    const trail = await plane.ask('GET', `/audit-logs?start_time=${from}&end_time=${to}`);
    expect(trail.body.total).toBeGreaterThan(1);
    expect(JSON.stringify(trail.body) + JSON.stringify(reply.body)).not.toContain('PRIVATE');
  });

  it('provides user and rights for an e-mail address', async () => {
    const person = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    const id = `${plane.organisationId}/${person.email}`;
    const known = await document('user', id);
    expect(known).toMatchObject({ organisationId: plane.organisationId, user: { id: person.id, everywhere: null } });
    expect(Object.keys(known.user.places)).toEqual([plane.workspaceId]);
    expect(known.user.places[plane.workspaceId]).toContain('completions.write');
    await plane.ask('PUT', `/workspaces/${plane.workspaceId}/users/${person.id}`, { body: { role: 'viewer' } });
    expect((await document('user', id)).user.places[plane.workspaceId]).not.toContain('completions.write');
    await plane.ask('PUT', `/admin/users/${person.id}`, { body: { role: 'admin' } });
    expect((await document('user', id)).user).toMatchObject({ everywhere: expect.arrayContaining(['completions.write']) });
    const scim = await scimClient(plane);
    const active = (value: boolean) => scim('PATCH', `/Users/${person.id}`, patch({ op: 'replace', path: 'active', value }));
    expect((await active(false)).status).toBe(200);
    // Without a user, a gateway would accept every scope that a JWT claims.
    expect((await document('user', id)).user).toMatchObject({ id: person.id, everywhere: null, places: {} });
    const subject = { organisationId: plane.organisationId, workspaceId: plane.workspaceId, userId: person.id };
    expect(await scopesOfUser(plane.control.services.database.em(), subject)).toBeNull();
    await active(true);
    expect((await document('user', id)).user.everywhere).toContain('completions.write');
    expect((await document('user', id)).removedAtMs).toBeUndefined();
    const other = await plane.newTenant();
    expect((await document('user', `${other.organisationId}/${person.email}`)).user).toBeNull();
    expect(await document('user', `x/${person.email}`)).toBeNull();
    expect(await document('workspace-name', `${other.organisationId}/ws-default`)).toMatchObject({
      workspaceId: other.workspaceId,
    });
    expect(await document('workspace-name', `${plane.organisationId}/ws-nowhere`)).toBeNull();
  });

  it('provides the time at which a user was removed or got another e-mail, without storing the e-mail', async () => {
    const scim = await scimClient(plane);
    const people = [await newPerson(plane), await newPerson(plane), await newPerson(plane)] as const;
    const [removed, deleted, renamed] = people;
    const begin = Date.now();
    await plane.ask('DELETE', `/admin/users/${removed.id}`);
    await scim('DELETE', `/Users/${deleted.id}`);
    const value = [{ value: 'renamed@example.com', primary: true }];
    await scim('PATCH', `/Users/${renamed.id}`, patch({ op: 'replace', path: 'emails', value }));
    for (const { email } of people) {
      const { user, removedAtMs } = await document('user', `${plane.organisationId}/${email}`);
      expect(user).toBeNull();
      expect(removedAtMs).toBeGreaterThan(begin - 60_000);
      expect(JSON.stringify(await plane.control.services.database.em().find(removedUsers, {}))).not.toContain(email);
    }
    const { user, removedAtMs } = await document('user', `${plane.organisationId}/stranger@example.com`);
    expect([user, removedAtMs]).toEqual([null, undefined]);
    const again = await plane.ask('POST', '/users', { body: { email: removed.email, role: 'member' } });
    const { id } = again.body;
    expect(await document('user', `${plane.organisationId}/${removed.email}`)).toMatchObject({ user: { id } });
  });

  it('has documents of users whose e-mail is not ASCII, and announces their changes', async () => {
    await put({ jwks: { keys: [key.jwk] } });
    const since = (await plane.events()).length;
    const { id } = (await plane.ask('POST', '/users', { body: { email: 'Jürgen@bücher.example', role: 'admin' } })).body;
    // The identifiers of documents are ASCII.
    const named = `${plane.organisationId}/:asO8cmdlbg@xn--bcher-kva.example`;
    expect((await plane.events()).slice(since)).toContainEqual(expect.objectContaining({ kind: 'user', documentId: named }));
    expect(await document('user', named)).toMatchObject({ id: named, user: { id, name: 'jürgen@xn--bcher-kva.example' } });
  });

  it('announces changes of users to gateways', async () => {
    const before = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'member' }]);
    const told = async (work: () => Promise<unknown>) => {
      const since = (await plane.events()).length;
      await work();
      return (await plane.events())
        .slice(since)
        .flatMap(({ kind, documentId, op }) => (kind === 'user' ? [`${documentId} ${op}`] : []));
    };
    const notice = (email: string) => `${plane.organisationId}/${email} upsert`;
    const path = `/workspaces/${plane.workspaceId}/users/${before.id}`;
    await put(null);
    expect(await told(() => plane.ask('PUT', path, { body: { role: 'viewer' } }))).toEqual([]);
    // The change of a user while no JWT settings were stored is announced now.
    expect(await told(() => put({ jwks: { keys: [key.jwk] } }))).toContain(notice(before.email));
    expect(await told(() => put({ jwks: { keys: [key.jwk] } }))).toEqual([]);
    expect(await told(() => plane.ask('PUT', path, { body: { role: 'member' } }))).toEqual([notice(before.email)]);
    expect(await told(() => plane.ask('DELETE', path))).toEqual([notice(before.email)]);
    expect(await told(() => plane.ask('POST', '/users', { body: { email: 'fresh@example.com', role: 'member' } }))).toEqual([
      notice('fresh@example.com'),
    ]);
    const inWorkspace = await newPerson(plane, 'member', [{ id: plane.workspaceId, role: 'manager' }]);
    const members = { security_settings: { membersViewLogs: false } };
    const all = await told(() => plane.ask('PUT', '/organisations/self', { body: members }));
    expect(all).toEqual(expect.arrayContaining([notice('fresh@example.com'), notice(inWorkspace.email)]));
    expect(await told(() => plane.ask('DELETE', `/admin/users/${before.id}`))).toEqual([notice(before.email)]);

    const scim = await scimClient(plane);
    const sent = { userName: 'inactive@example.com', active: false };
    const made: string[] = [];
    const create = async () => made.push((await scim('POST', '/Users', sent)).body.id);
    expect(await told(create)).toEqual([notice(sent.userName)]);
    // A member of a group without a workspace, so that only the activation is announced.
    await plane.ask('PUT', '/organisations/self/auth-settings', { body: { scim: { group_based_user_provisioning: true } } });
    const group = { displayName: 'Activated', members: [{ value: made[0] }] };
    expect(await told(() => scim('POST', '/Groups', group))).toEqual([notice(sent.userName)]);
  });

  it('does not authenticate while no gateway can verify: 503', async () => {
    const reply = await plane.ask('GET', '/configs', { key: 'eyJhbGciOiJSUzI1NiIsImtpZCI6ImEifQ.e30.AAAA' });
    expect([reply.status, reply.body.data?.errorCode]).toEqual([503, 'AB10']);
  });
});

describe.each(ruleDatabases)('rejected JWTs, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const refusal = (organisationId: string, more: object = {}) => ({
    organisationId,
    count: 3,
    status: 401,
    code: 'invalid_api_key',
    reason: 'Invalid token: the signature cannot be verified',
    subject: 'ada@example.com',
    kid: 'k1',
    method: 'GET',
    path: '/v1/models',
    requestId: 'r1',
    clientAddress: '192.0.2.7',
    ...more,
  });
  const tell = (refusals: unknown[]) => plane.internal('POST', '/token-refusals', { refusals });

  it('are audit entries of organisations with JWTs, with a limit per minute', async () => {
    const count = await plane.auditCount();
    expect((await tell([refusal(plane.organisationId)])).status).toBe(200);
    expect(await plane.auditCount()).toBe(count);
    await plane.ask('PUT', path, { body: { jwt: { jwks: { keys: [key.jwk] } } } });
    const other = await plane.newTenant();
    const nobody = '5a2f6f0e-9f0f-4a53-9d5e-3a8f3a2f0fff';
    expect((await tell([refusal(other.organisationId), refusal(nobody), refusal(plane.organisationId)])).status).toBe(200);
    expect(await plane.lastAudit()).toMatchObject({
      organisationId: plane.organisationId,
      resourceType: 'jwt',
      action: 'authenticate',
      uri: '/v1/models',
      clientIp: '192.0.2.7',
      responseStatusCode: 401,
      errorCode: 'invalid_api_key',
      userId: null,
      userType: 'system',
      requestBody: { method: 'GET', claimed_subject: 'ada@example.com', kid: 'k1', count: 3 },
    });
    // A record that cannot be written is skipped and does not block the ones behind it.
    const odd = [refusal(plane.organisationId, { subject: 'a\0b' }), refusal(plane.organisationId, { kid: 'after' })];
    expect((await tell(odd)).status).toBe(200);
    expect(await plane.lastAudit()).toMatchObject({ requestBody: { kid: 'after' } });
    const before = await plane.auditCount();
    const begunMs = performance.now();
    await tell(Array.from({ length: 200 }, (_, at) => refusal(plane.organisationId, { requestId: `r${at}` })));
    const added = (await plane.auditCount()) - before;
    expect(added).toBeGreaterThan(10);
    // The rest of sixty, and one more per elapsed second.
    expect(added).toBeLessThan(61 + (performance.now() - begunMs) / 1_000);
    const from = new Date(Date.now() - 60_000).toISOString();
    const to = new Date(Date.now() + 60_000).toISOString();
    const shown = await plane.ask('GET', `/audit-logs?start_time=${from}&end_time=${to}&resource_type=jwt`);
    expect(shown.status).toBe(200);
    expect(shown.body.total).toBe(added + 2);
  });

  it('are reported by gateways only, in the agreed shape', async () => {
    expect((await plane.internal('POST', '/token-refusals', { refusals: [] }, plane.adminKey)).status).toBe(401);
    expect((await tell([{ organisationId: 'x' }])).status).toBe(400);
    expect((await tell(Array(201).fill(refusal(plane.organisationId)))).status).toBe(400);
  });
});
