import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FakeMailServer, type Letter, startFakeMailServer } from '../../support/fakes/fake-mail-server.ts';
import { until } from '../../support/until.ts';
import { accept, newPerson, tokenOf } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { scimClient } from '../support/scim-client.ts';
import { arrive, newConnection, verifiedDomain } from '../support/sign-in.ts';
import { ruleDatabase } from '../support/test-database.ts';
import { addNotices, numbered } from './notices.ts';

describe('mail', () => {
  let server: FakeMailServer;
  let plane: Plane;
  beforeAll(async () => {
    server = await startFakeMailServer();
  });
  afterEach(() => plane?.close());
  afterAll(() => server.close());

  const start = (user = '') =>
    startPlane(ruleDatabase, {
      SMTP_URL: `smtp://${user}127.0.0.1:${server.port}`,
      SMTP_FROM: 'gateway@example.com',
      PUBLIC_URL: 'https://gateway.example.com/base/',
    });
  const linkIn = (letter: Letter) => /https:\/\/\S+/.exec(letter.text)?.[0] ?? '';

  it('contains the link of an invite, which is also in the reply', async () => {
    plane = await start('us%40er:pa%3Ass@');
    const body = { email: 'mailed@example.com', role: 'member', workspaces: [] };
    const reply = await plane.ask('POST', '/admin/users/invites', { body });
    const letter = await server.arrived('mailed@example.com');
    expect(letter.from).toBe('gateway@example.com');
    expect(linkIn(letter)).toBe(reply.body.invite_link);
    expect(reply.body.invite_link).toMatch(/^https:\/\/gateway\.example\.com\/base\/v1\/auth\/link#accept-invite=/);
    const again = await plane.ask('POST', `/admin/users/invites/${reply.body.id}/resend`, { body: {} });
    expect(linkIn(await server.arrived('mailed@example.com', 2))).toBe(again.body.inviteLink);
    expect((await accept(plane, tokenOf(again.body.inviteLink))).status).toBe(200);
  });

  it('lets users reset a forgotten password, and does not reveal whether a user exists', async () => {
    plane = await start();
    const person = await newPerson(plane);
    await server.arrived(person.email);
    const forgot = (email: string) => plane.ask('POST', '/auth/password/forgot', { key: null, body: { email } });
    const [known, unknown] = [await forgot(person.email), await forgot('stranger@example.com')];
    expect(known.status).toBe(200);
    expect(unknown.body).toEqual(known.body);
    const letter = await server.arrived(person.email, 2);
    const token = tokenOf(linkIn(letter));
    const reset = { token, password: 'a whole new password' };
    expect((await plane.ask('POST', '/auth/password/reset', { key: null, body: reset })).status).toBe(200);
    expect(server.lettersTo('stranger@example.com')).toEqual([]);
    for (let i = 0; i < 4; i++) await forgot(person.email);
    expect((await forgot(person.email)).status).toBe(429);
  });

  it('has no link to set a password for users who sign in at an identity provider', async () => {
    plane = await start();
    const [person, waiting] = [await newPerson(plane), 'waiting@example.com'];
    await plane.ask('POST', '/users', { body: { email: waiting } });
    const connectionId = await newConnection(plane);
    await arrive(plane, { connectionId, subject: 'sub-mail', email: `mail@${verifiedDomain}`, emailVerified: true });
    const directory = await scimClient(plane);
    await directory('POST', '/Users', { userName: 'directory@example.com' });
    await Promise.all([person.email, waiting].map((email) => server.arrived(email)));
    const forgot = (email: string) => plane.ask('POST', '/auth/password/forgot', { key: null, body: { email } });
    const ofProviders = [`mail@${verifiedDomain}`, 'directory@example.com'];
    for (const email of [...ofProviders, person.email, waiting]) expect((await forgot(email)).status).toBe(200);
    await Promise.all([person.email, waiting].map((email) => server.arrived(email, 2)));
    expect(ofProviders.flatMap((email) => server.lettersTo(email))).toEqual([]);
  });

  it('has no link to set a password if single sign-on is required, except for owners', async () => {
    plane = await start();
    const [owner, member] = [await newPerson(plane, 'owner'), await newPerson(plane)];
    await Promise.all([owner, member].map(({ email }) => server.arrived(email)));
    const path = `/organisations/${plane.organisationId}/auth-settings`;
    expect((await plane.ask('PUT', path, { body: { require_sso: true } })).status).toBe(200);
    const reset = ({ id }: { id: string }) => plane.ask('POST', `/admin/users/${id}/password-reset`, { body: {} });
    expect(await reset(member)).toMatchObject({
      status: 403,
      body: { data: { message: expect.stringContaining('require_sso') } },
    });
    expect(await reset(owner)).toMatchObject({ status: 200, body: { reset_link: expect.any(String) } });
    await server.arrived(owner.email, 2);
    for (const { email } of [member, owner]) await plane.ask('POST', '/auth/password/forgot', { key: null, body: { email } });
    await server.arrived(owner.email, 3);
    expect(server.lettersTo(member.email)).toHaveLength(1);
    expect((await plane.ask('PUT', path, { body: { require_sso: false } })).status).toBe(200);
    expect((await reset(member)).status).toBe(200);
  });

  it('arrives if many are sent at once, over few connections', async () => {
    plane = await start();
    const before = server.letters.length;
    await addNotices(plane, numbered(200));
    await until(() => server.letters.length === before + 200);
    expect(server.connectionsPeak).toBeLessThanOrEqual(3);
    expect(plane.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('does not delay a reply if the mail server rejects it, and the log has the failure', async () => {
    plane = await start('us%40er:wrong@');
    const reply = await plane.ask('POST', '/users', { body: { email: 'unlucky@example.com' } });
    expect(reply.status).toBe(200);
    await until(() => plane.log.lines.some((line) => line.message === 'the mail server does not accept mails; they wait'));
    expect(JSON.stringify(plane.log.lines)).not.toContain('wrong@');
    expect(JSON.stringify(plane.log.lines)).not.toContain(tokenOf(reply.body.set_password_link));
    expect(server.lettersTo('unlucky@example.com')).toEqual([]);
  });
});
