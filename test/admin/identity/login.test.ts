import { afterEach, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { oneTimeTokens, sessions } from '../../../admin/identity/entity.ts';
import { forgetEnded } from '../../../admin/identity/forget-ended.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { until } from '../../support/until.ts';
import { login, newPerson, tokenOf } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('signing in, on %s', (database) => {
  let plane: Plane;
  afterEach(() => plane?.close());

  it('rejects unknown users and wrong passwords with one text, and records failures of existing users', async () => {
    plane = await startPlane(database);
    const person = await newPerson(plane);
    const audits = await plane.auditCount();
    const wrong = await login(plane, person.email, 'not this one');
    const unknown = await login(plane, 'nobody@example.com', 'not this one');
    const invited = await plane.ask('POST', '/users', { body: { email: 'no-password@example.com' } });
    const without = await login(plane, 'no-password@example.com', '');
    expect(invited.status).toBe(200);
    expect(wrong.status).toBe(401);
    expect([unknown, without].map((reply) => ({ status: reply.status, body: reply.body }))).toEqual([
      { status: 401, body: wrong.body },
      { status: 401, body: wrong.body },
    ]);
    const failures = () =>
      plane.control.services.database
        .em()
        .find(auditEntries, { action: 'login', responseStatusCode: 401 }, { orderBy: { seq: 'asc' } });
    await until(async () => (await failures()).length === 2);
    expect((await failures())[0]).toMatchObject({
      userId: person.id,
      userType: 'user',
      errorCode: 'AB05',
      clientIp: '127.0.0.1',
    });
    expect(await plane.auditCount()).toBe(audits + 3);
    expect(JSON.stringify(await failures())).not.toContain('not this one');
  });

  it('is blocked after five failures a minute, known user or not, even with the right password, for a minute', async () => {
    const time = newFakeTime();
    plane = await startPlane(database, {}, { clock: time.clock });
    const person = await newPerson(plane);
    for (const email of [person.email, 'nobody@example.com']) {
      for (let i = 0; i < 5; i++) expect((await login(plane, email, 'not this one')).status).toBe(401);
    }
    const held = await login(plane, person.email, person.password);
    expect({ status: held.status, code: held.body.data.errorCode }).toEqual({ status: 429, code: 'AB06' });
    expect(held.headers.get('retry-after')).toBe('60');
    expect((await login(plane, 'nobody@example.com', 'x')).body).toEqual(held.body);
    time.advance(60_001);
    expect((await login(plane, person.email, person.password)).status).toBe(200);
    // Successful attempts do not count.
    for (let i = 0; i < 6; i++) expect((await login(plane, person.email, person.password)).status).toBe(200);
  });

  it('requires the organisation for an e-mail in two of them', async () => {
    plane = await startPlane(database);
    const person = await newPerson(plane);
    const other = await plane.newTenant();
    const twin = await plane.ask('POST', '/users', { key: other.adminKey, body: { email: person.email } });
    expect(twin.status).toBe(200);
    expect((await login(plane, person.email, person.password)).status).toBe(401);
    const body = { email: person.email, password: person.password, organisation_id: plane.organisationId };
    const reply = await plane.ask('POST', '/auth/login', { key: null, body });
    expect(reply.body.user.id).toBe(person.id);
  });

  it('ends after the maximum session life of the organisation, and after inactivity', async () => {
    const time = newFakeTime(Date.now());
    plane = await startPlane(database, { SESSION_IDLE_TIMEOUT: '600' }, { clock: time.clock });
    const person = await newPerson(plane);
    const { auth_token: key, refresh_token } = (await login(plane, person.email, person.password)).body;
    const self = () => plane.ask('GET', '/auth/self', { key });
    for (let minutes = 0; minutes < 14; minutes += 7) {
      time.advance(7 * 60_000);
      expect((await self()).status).toBe(200);
    }
    const path = `/organisations/${plane.organisationId}/auth-settings`;
    const body = { session_settings: { max_session_ttl: 900 } };
    expect((await plane.ask('PUT', path, { body })).status).toBe(200);
    expect((await self()).status).toBe(200);
    time.advance(61_000);
    expect((await self()).status).toBe(401);
    expect((await plane.ask('POST', '/auth/refresh', { key: null, body: { refresh_token } })).status).toBe(401);

    const again = (await login(plane, person.email, person.password)).body;
    expect(Date.parse(again.expires_at) - time.clock.now()).toBe(900_000);
    time.advance(601_000);
    expect((await plane.ask('GET', '/auth/self', { key: again.auth_token })).status).toBe(401);
  });

  it('leaves no ended sessions, and links only for a day', async () => {
    plane = await startPlane(database);
    const person = await newPerson(plane);
    const gone = await newPerson(plane);
    const em = plane.control.services.database.em();
    const past = new Date(Date.now() - 1_000);
    await em.nativeUpdate(sessions, { userId: gone.id }, { expiresAt: past });
    await em.nativeUpdate(oneTimeTokens, { userId: gone.id }, { expiresAt: new Date(past.getTime() - 86_400_000) });
    await em.nativeUpdate(oneTimeTokens, { userId: person.id }, { expiresAt: past });
    // Housekeeping of the running control plane may delete them first, so the counts that are returned differ.
    await forgetEnded(em, { idleTtlSeconds: 600 }, new Date());
    const rows = async (userId: string) => [await em.count(sessions, { userId }), await em.count(oneTimeTokens, { userId })];
    expect(await rows(gone.id)).toEqual([0, 0]);
    expect(await rows(person.id)).toEqual([1, 1]);
    expect((await plane.ask('GET', '/auth/self', { key: person.token })).status).toBe(200);
    await forgetEnded(em, { idleTtlSeconds: 600 }, new Date(Date.now() + 601_000));
    expect(await em.count(sessions, { userId: person.id })).toBe(0);
  });

  it('is required to change a password, and the change ends all other sessions and earlier links', async () => {
    plane = await startPlane(database);
    const person = await newPerson(plane);
    const here = (await login(plane, person.email, person.password)).body.auth_token;
    const change = (current_password: string, new_password: string) =>
      plane.ask('POST', '/auth/password', { key: here, body: { current_password, new_password } });
    const { reset_link } = (await plane.ask('POST', `/admin/users/${person.id}/password-reset`, { body: {} })).body;
    expect((await change('wrong', 'a whole new password')).status).toBe(403);
    expect((await change(person.password, 'short')).status).toBe(400);
    expect((await change(person.password, person.email)).status).toBe(400);
    expect((await change(person.password, 'a whole new password')).status).toBe(200);
    expect((await plane.ask('GET', '/auth/self', { key: here })).status).toBe(200);
    expect((await plane.ask('GET', '/auth/self', { key: person.token })).status).toBe(401);
    expect((await login(plane, person.email, person.password)).status).toBe(401);
    expect((await login(plane, person.email, 'a whole new password')).status).toBe(200);
    const reset = { token: tokenOf(reset_link), password: 'not the new password' };
    expect((await plane.ask('POST', '/auth/password/reset', { key: null, body: reset })).status).toBe(404);
    for (let i = 0; i < 5; i++) await change('wrong', 'a whole new password');
    expect((await change('a whole new password', 'yet another password')).status).toBe(429);
  });

  it('is possible again with a link from an admin, which ends all sessions', async () => {
    plane = await startPlane(database);
    const person = await newPerson(plane);
    const { reset_link } = (await plane.ask('POST', `/admin/users/${person.id}/password-reset`, { body: {} })).body;
    const newer = (await plane.ask('POST', `/admin/users/${person.id}/password-reset`, { body: {} })).body.reset_link;
    const reset = (link: string) =>
      plane.ask('POST', '/auth/password/reset', {
        key: null,
        body: { token: link.split('=')[1], password: 'a whole new password' },
      });
    expect((await reset(reset_link)).status).toBe(404);
    const both = await Promise.all([reset(newer), reset(newer)]);
    expect(both.map((reply) => reply.status).sort()).toEqual([200, 404]);
    expect((await plane.ask('GET', '/auth/self', { key: person.token })).status).toBe(401);
    expect((await login(plane, person.email, 'a whole new password')).status).toBe(200);
  });
});
