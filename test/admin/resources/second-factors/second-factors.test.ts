import { TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../admin/audit/entity.ts';
import { pendingSignIns, recoveryCodes, secondFactors } from '../../../../admin/identity/second-factor/entity.ts';
import { housekeepingTasks } from '../../../../admin/tables.ts';
import { newFakeTime } from '../../../support/fakes/fake-time.ts';
import { until } from '../../../support/until.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { accept, login, newPerson, type Person, tokenOf } from '../../support/people.ts';
import { type Plane, type Reply, startPlane } from '../../support/plane.ts';
import { SoftwareAuthenticator } from '../../support/software-authenticator.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const origin = 'https://gateway.example.com';

describe.each(ruleDatabases)('second factors, on %s', (database) => {
  const time = newFakeTime(Date.parse('2026-11-23T12:00:00Z'));
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, { PUBLIC_URL: origin }, { clock: time.clock });
  });
  afterAll(() => plane?.close());

  /** Asks without a key. */
  const open = (path: string, body: unknown) => plane.ask('POST', path, { key: null, body });
  const verify = (token: string, proof: object) => open('/auth/second-factor/verify', { pending_token: token, ...proof });
  const codeOf = (secret: string) => new TOTP({ secret }).generate({ timestamp: time.clock.now() });
  /** A code that is certainly wrong: those of the steps around now are skipped. */
  const wrongCode = (secret: string) => {
    const near = [-30, 0, 30].map((s) => new TOTP({ secret }).generate({ timestamp: time.clock.now() + s * 1_000 }));
    return ['000000', '000001', '000002', '000003'].find((code) => !near.includes(code)) as string;
  };
  const nextStep = () => time.advance(30_000);
  const begin = (person: Person, kind: string, password = person.password) =>
    plane.ask('POST', '/auth/second-factors/enrolments', {
      key: person.token,
      body: { kind, name: 'My key', current_password: password },
    });
  const confirm = (person: Person, id: string, body: object) =>
    plane.ask('POST', `/auth/second-factors/${id}/confirm`, { key: person.token, body });
  const requireFactor = (required: boolean) =>
    plane.ask('PUT', `/organisations/${plane.organisationId}/auth-settings`, { body: { require_second_factor: required } });

  async function withApp(): Promise<{ person: Person; secret: string; codes: string[]; id: string }> {
    const person = await newPerson(plane);
    const { id, secret } = (await begin(person, 'totp')).body;
    const codes = (await confirm(person, id, { passcode: codeOf(secret) })).body.recovery_codes;
    nextStep();
    return { person, secret, codes, id };
  }
  const pendingOf = async (person: Person) => (await login(plane, person.email, person.password)).body.pending_token as string;
  const codeOfError = (reply: Reply) => ({ status: reply.status, code: reply.body.data?.errorCode });

  it('begin with the password, are confirmed with a code, and are then part of each sign-in', async () => {
    const person = await newPerson(plane);
    await expectRefusal(plane, () => begin(person, 'totp', 'not this one'), 403, 'AB03', true);
    const begun = await expectChange(plane, () => begin(person, 'totp'), {
      resource: 'second_factors',
      action: 'enrol',
      events: [],
    });
    const { id, secret, uri } = begun.body;
    expect(uri).toContain(`secret=${secret}`);
    // Not used before it is confirmed.
    expect((await login(plane, person.email, person.password)).body.object).toBe('session');
    await expectRefusal(plane, () => confirm(person, id, { passcode: wrongCode(secret) }), 400, 'AB01', true);
    const confirmed = await confirm(person, id, { passcode: codeOf(secret) });
    expect(confirmed.body.recovery_codes).toHaveLength(10);

    const pending = await login(plane, person.email, person.password);
    expect(pending.body).toEqual({
      pending_token: expect.stringMatching(/^svc_pending_[\w-]{43}$/),
      expires_at: new Date(time.clock.now() + 300_000).toISOString(),
      methods: ['totp', 'recovery_code'],
      object: 'second_factor_required',
    });
    expect(pending.headers.get('set-cookie')).toBeNull();
    nextStep();
    const done = await expectChange(plane, () => verify(pending.body.pending_token, { passcode: codeOf(secret) }), {
      resource: 'second_factors',
      action: 'verify',
      events: [],
    });
    expect(done.body).toMatchObject({ object: 'session', user: { id: person.id } });
    expect((await plane.ask('GET', '/auth/self', { key: done.body.auth_token })).status).toBe(200);
    // The token works once.
    nextStep();
    expect(codeOfError(await verify(pending.body.pending_token, { passcode: codeOf(secret) }))).toEqual({
      status: 401,
      code: 'AB05',
    });
    await plane.control.services.background.settled();
    expect(await plane.lastAudit()).toMatchObject({ action: 'verify', userId: person.id, responseStatusCode: 401 });
    const list = (await plane.ask('GET', '/auth/second-factors', { key: person.token })).body;
    expect(list).toMatchObject({
      total: 1,
      data: [{ id, kind: 'totp', name: 'My key' }],
      recovery_codes_left: 10,
      is_required: 0,
    });
    const stored = JSON.stringify(await plane.control.services.database.em().find(secondFactors, { id }));
    const audits = JSON.stringify(await plane.control.services.database.em().find(auditEntries, {}));
    for (const text of [stored, audits]) expect(text).not.toContain(secret);
    expect(audits).not.toContain(codeOf(secret));
    expect(audits).not.toContain(pending.body.pending_token);
  });

  it('leave a pending sign-in that can do nothing else', async () => {
    const { person } = await withApp();
    const token = await pendingOf(person);
    for (const [method, path] of [
      ['GET', '/auth/self'],
      ['GET', '/auth/second-factors'],
      ['GET', '/configs'],
      ['POST', '/auth/logout'],
    ] as const) {
      const reply = await plane.ask(method, path, { key: token, ...(method === 'POST' ? { body: {} } : {}) });
      expect(reply.status, path).toBe(401);
      const cookie = await plane.ask(method, path, { key: null, headers: { cookie: `__Host-svc_session=${token}` } });
      expect(cookie.status, path).toBeGreaterThanOrEqual(401);
    }
    // The user has a factor, so another one cannot be enrolled with this token.
    const enrolled = await open('/auth/second-factor/enrol', { pending_token: token, kind: 'totp', name: 'x' });
    expect(codeOfError(enrolled)).toEqual({ status: 400, code: 'AB01' });
    time.advance(300_001);
    expect((await open('/auth/second-factor/options', { pending_token: token })).status).toBe(401);
  });

  it('end sign-ins that began before a change of the password', async () => {
    const person = await newPerson(plane);
    await requireFactor(true);
    const pending = await login(plane, person.email, person.password);
    expect(pending.body.object).toBe('second_factor_enrolment_required');
    const changed = { current_password: person.password, new_password: 'another correct horse' };
    expect((await plane.ask('POST', '/auth/password', { key: person.token, body: changed })).status).toBe(200);
    // A party that knew the old password must not add a factor of its own.
    const { pending_token } = pending.body;
    expect(codeOfError(await open('/auth/second-factor/enrol', { pending_token, kind: 'totp', name: 'x' }))).toEqual({
      status: 401,
      code: 'AB05',
    });
    await requireFactor(false);
  });

  it('end sign-ins that began before the organisation required single sign-on', async () => {
    const { person, secret } = await withApp();
    const token = await pendingOf(person);
    const requireSso = (require_sso: boolean) =>
      plane.ask('PUT', `/organisations/${plane.organisationId}/auth-settings`, { body: { require_sso } });
    await requireSso(true);
    expect(codeOfError(await verify(token, { passcode: codeOf(secret) }))).toEqual({ status: 403, code: 'AB03' });
    await requireSso(false);
    expect((await verify(token, { passcode: codeOf(secret) })).status).toBe(200);
  });

  it('refuse a code that was used, also in concurrent requests', async () => {
    const { person, secret } = await withApp();
    const tokens = [await pendingOf(person), await pendingOf(person), await pendingOf(person)];
    const passcode = codeOf(secret);
    const statuses = (await Promise.all(tokens.map((token) => verify(token, { passcode })))).map((reply) => reply.status);
    expect(statuses.sort()).toEqual([200, 401, 401]);
    const failures = () =>
      plane.control.services.database.em().count(auditEntries, { userId: person.id, action: 'verify', responseStatusCode: 401 });
    await until(async () => (await failures()) === 2);
  });

  it('block an authenticator app after five wrong codes, in the database, until five minutes have passed', async () => {
    const { person, secret } = await withApp();
    for (let i = 0; i < 5; i++) {
      expect((await verify(await pendingOf(person), { passcode: wrongCode(secret) })).status).toBe(401);
    }
    const held = await verify(await pendingOf(person), { passcode: codeOf(secret) });
    expect(codeOfError(held)).toEqual({ status: 429, code: 'AB06' });
    expect(held.headers.get('retry-after')).toBe('300');
    time.advance(300_001);
    expect((await verify(await pendingOf(person), { passcode: codeOf(secret) })).status).toBe(200);
  });

  it('have recovery codes that work once, in any case and spacing, and that are stored as hashes', async () => {
    const { person, codes } = await withApp();
    const [first = '', second = ''] = codes;
    const spaced = first.toUpperCase().replaceAll('-', ' ');
    expect((await verify(await pendingOf(person), { recovery_code: spaced })).status).toBe(200);
    expect((await verify(await pendingOf(person), { recovery_code: first })).status).toBe(401);
    const rows = JSON.stringify(await plane.control.services.database.em().find(recoveryCodes, { userId: person.id }));
    expect(rows).not.toContain(second);
    const replaced = await plane.ask('POST', '/auth/recovery-codes', {
      key: person.token,
      body: { current_password: person.password },
    });
    expect(replaced.body.recovery_codes).toHaveLength(10);
    expect((await verify(await pendingOf(person), { recovery_code: second })).status).toBe(401);
    // Another user's code is not valid.
    const other = await withApp();
    expect((await verify(await pendingOf(other.person), { recovery_code: replaced.body.recovery_codes[0] })).status).toBe(401);
  });

  it('can be security keys: bound to the origin and the challenge, and refused once copied', async () => {
    const person = await newPerson(plane);
    const key = new SoftwareAuthenticator(origin);
    const { id, options } = (await begin(person, 'webauthn')).body;
    const elsewhere = new SoftwareAuthenticator('https://phishing.example.net');
    expect((await confirm(person, id, { credential: elsewhere.create(options) })).status).toBe(400);
    expect((await confirm(person, id, { credential: key.create({ challenge: 'YW5vdGhlcg' }) })).status).toBe(400);
    expect((await confirm(person, id, { credential: { id: 1 } })).status).toBe(400);
    expect((await confirm(person, id, { credential: key.create(options) })).status).toBe(200);

    const sign = async (token: string) => (await open('/auth/second-factor/options', { pending_token: token })).body.options;
    const token = await pendingOf(person);
    const old = await sign(token);
    const fresh = await sign(token);
    expect(fresh.allowCredentials).toEqual([{ id: key.id, type: 'public-key', transports: ['usb'] }]);
    expect((await verify(token, { credential: key.get(old) })).status).toBe(401);
    expect((await verify(token, { credential: key.get(fresh) })).status).toBe(200);
    key.counter = 0;
    const next = await pendingOf(person);
    expect((await verify(next, { credential: key.get(await sign(next)) })).status).toBe(401);
  });

  it('are removed with the password, never below the requirement of the organisation', async () => {
    const { person, id } = await withApp();
    const remove = (password: string) =>
      plane.ask('DELETE', `/auth/second-factors/${id}`, { key: person.token, body: { current_password: password } });
    await expectRefusal(plane, () => remove('not this one'), 403, 'AB03', true);
    expect((await requireFactor(true)).status).toBe(200);
    await expectRefusal(plane, () => remove(person.password), 409, 'AB07', true);
    await requireFactor(false);
    await expectChange(plane, () => remove(person.password), { resource: 'second_factors', action: 'delete', events: [] });
    expect((await login(plane, person.email, person.password)).body.object).toBe('session');
    const em = plane.control.services.database.em();
    expect(await em.count(recoveryCodes, { userId: person.id })).toBe(0);
  });

  it('are enrolled during the sign-in if the organisation requires one, also after an invite', async () => {
    const person = await newPerson(plane);
    await requireFactor(true);
    const pending = (await login(plane, person.email, person.password)).body;
    expect(pending).toMatchObject({ object: 'second_factor_enrolment_required', methods: [] });
    const pending_token = pending.pending_token;
    expect((await verify(pending_token, { recovery_code: 'aaaa-aaaa-aaaa-aaaa' })).status).toBe(400);
    const { id: factor_id, secret } = (await open('/auth/second-factor/enrol', { pending_token, kind: 'totp', name: 'Phone' }))
      .body;
    const wrong = { pending_token, factor_id, passcode: wrongCode(secret) };
    expect((await open('/auth/second-factor/confirm', wrong)).status).toBe(400);
    const done = await open('/auth/second-factor/confirm', { ...wrong, passcode: codeOf(secret) });
    expect(done.body).toMatchObject({ object: 'session', user: { id: person.id }, recovery_codes: expect.any(Array) });
    await requireFactor(false);
    const later = await newPerson(plane);
    await requireFactor(true);
    const tokens = [await pendingOf(later), await pendingOf(later)] as const;
    const enrol = (token: string) => open('/auth/second-factor/enrol', { pending_token: token, kind: 'totp', name: 'x' });
    const first = (await enrol(tokens[0])).body;
    const proof = { factor_id: first.id, passcode: codeOf(first.secret) };
    expect((await open('/auth/second-factor/confirm', { pending_token: tokens[0], ...proof })).status).toBe(200);
    // A second token of the same password must not add a factor, nor sign in without the first one.
    expect(codeOfError(await enrol(tokens[1]))).toEqual({ status: 401, code: 'AB05' });
    const key = { pending_token: tokens[1], kind: 'webauthn', name: 'x' };
    expect(codeOfError(await open('/auth/second-factor/enrol', key))).toEqual({ status: 401, code: 'AB05' });
    const again = await open('/auth/second-factor/confirm', { pending_token: tokens[1], ...proof });
    expect(codeOfError(again)).toEqual({ status: 401, code: 'AB05' });
    const invite = await plane.ask('POST', '/admin/users/invites', { body: { email: 'new@example.com', role: 'member' } });
    const accepted = await accept(plane, tokenOf(invite.body.invite_link));
    expect(accepted.body).toMatchObject({ object: 'second_factor_enrolment_required', api_keys: expect.any(Array) });
    await requireFactor(false);
  });

  it('are deleted after an hour if they are not confirmed, by the clock of the control plane', async () => {
    const person = await newPerson(plane);
    const { id } = (await begin(person, 'totp')).body;
    const { services } = plane.control;
    const tasks = housekeepingTasks.filter(({ name }) => name === 'delete expired sign-ins and enrolments');
    const left = async () => {
      for (const task of tasks) await task.run({ ...services, isClosing: () => false });
      return services.database.em().count(secondFactors, { id });
    };
    expect(await left()).toBe(1);
    time.advance(3_600_000);
    expect(await left()).toBe(0);
  });

  it('are removed by admins for users who lost them, and only within their organisation', async () => {
    const { person } = await withApp();
    const other = await plane.newTenant();
    const path = `/admin/users/${person.id}/second-factors`;
    await expectRefusal(plane, () => plane.ask('DELETE', path, { key: other.adminKey }), 404, 'AB08', true);
    await expectChange(plane, () => plane.ask('DELETE', path), { resource: 'second_factors', action: 'reset', events: [] });
    expect((await plane.ask('GET', '/auth/self', { key: person.token })).status).toBe(401);
    expect((await login(plane, person.email, person.password)).body.object).toBe('session');
    expect(await plane.control.services.database.em().count(pendingSignIns, { userId: person.id })).toBe(0);
    // A user cannot see or remove factors of others.
    const mine = await withApp();
    const stranger = await newPerson(plane);
    const removal = { key: stranger.token, body: { current_password: stranger.password } };
    await expectRefusal(plane, () => plane.ask('DELETE', `/auth/second-factors/${mine.id}`, removal), 404, 'AB08', true);
  });
});
