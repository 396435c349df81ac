import type { SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { addMails } from '../../../admin/mail/add-mails.ts';
import { mails } from '../../../admin/mail/entity.ts';
import { deleteExpiredMails } from '../../../admin/mail/queue.ts';
import { startSender } from '../../../admin/mail/sender.ts';
import type { Smtp } from '../../../admin/mail/smtp.ts';
import { type FakeMailServer, startFakeMailServer } from '../../support/fakes/fake-mail-server.ts';
import { until } from '../../support/until.ts';
import { type CuttableProxy, startProxy } from '../support/cuttable-proxy.ts';
import { accept, tokenOf } from '../support/people.ts';
import { type Plane, startPlane, startPlaneWith } from '../support/plane.ts';
import { ruleDatabase, ruleDatabases } from '../support/test-database.ts';
import { addNotices, numbered } from './notices.ts';

let servers: { close(): Promise<void> }[] = [];
let planes: Plane[] = [];
afterEach(async () => {
  for (const one of [...planes.toReversed(), ...servers.toReversed()]) await one.close();
  planes = [];
  servers = [];
});

async function startServer(options: SMTPServerOptions = {}): Promise<FakeMailServer> {
  const server = await startFakeMailServer(options);
  servers.push(server);
  return server;
}

async function startCuttable(port: number): Promise<CuttableProxy> {
  const proxy = await startProxy('127.0.0.1', port);
  servers.push(proxy);
  return proxy;
}

async function start(port: number, database = ruleDatabase): Promise<Plane> {
  const plane = await startPlane(database, { SMTP_URL: `smtp://127.0.0.1:${port}`, SMTP_FROM: 'gateway@example.com' });
  planes.push(plane);
  return plane;
}

const em = (plane: Plane) => plane.control.services.database.em();
const count = (plane: Plane) => em(plane).count(mails);

/** Waits until all mails have been tried this often and none is being sent, and returns them. */
function tried(plane: Plane, attempts: number) {
  const rowsOf = async () => {
    const rows = await em(plane).find(mails, {});
    return rows.length > 0 && rows.every((row) => row.leaseId === null && row.attempts === attempts) ? rows : null;
  };
  return until(rowsOf, { what: `attempt ${attempts}` });
}

/** Makes all mails due, as if their delay had passed. */
async function sendAgain(plane: Plane): Promise<void> {
  await em(plane).execute('update mails set run_at = now()');
  plane.control.services.mailer.wake();
}

const about = { resource: 'users', uri: '/v1/admin/users/u', id: 'u', workspaceId: null };
const refusal = (text: string, responseCode: number) => Object.assign(new Error(text), { responseCode });
const invite = (plane: Plane, email: string) =>
  plane.ask('POST', '/admin/users/invites', { body: { email, role: 'member', workspaces: [] } });
const idOf = (text: string) => /^message-id: (.*)$/im.exec(text)?.[1]?.trim();

describe.each(ruleDatabases)('mails that wait, on %s', (database) => {
  it('a mail that the server refuses for now is sent again; meanwhile it is stored without readable link and address', async () => {
    const seen = new Set<string>();
    const server = await startServer({
      onRcptTo({ address }, _session, done) {
        const isKnown = seen.has(address);
        seen.add(address);
        done(isKnown ? null : refusal('4.2.0 greylisted', 451));
      },
    });
    const plane = await start(server.port, database);
    const { body } = await invite(plane, 'grey@example.com');
    const [row] = await tried(plane, 1);
    expect(row).toMatchObject({ kind: 'invite', isUrgent: true, attempts: 1, unconfirmed: 0 });
    expect(row?.lastError).toContain('451 4.2.0 greylisted');
    expect(row?.runAt.getTime()).toBeGreaterThan(row?.createdAt.getTime() ?? 0);
    expect(JSON.stringify({ ...row, lastError: null })).not.toContain('grey@');
    expect(JSON.stringify(row)).not.toContain(new URL(body.invite_link).hash.slice(1));
    await sendAgain(plane);
    expect((await server.arrived('grey@example.com')).text).toContain(body.invite_link);
    await until(async () => (await count(plane)) === 0);
    expect(plane.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('a mail that the server refuses with 550 is deleted, with an audit entry, a line in the log and a metric', async () => {
    const server = await startServer({
      onRcptTo: ({ address }, _session, done) => done(address === 'gone@example.com' ? refusal('5.1.1 unknown user', 550) : null),
    });
    const plane = await start(server.port, database);
    const { body } = await invite(plane, 'gone@example.com');
    await addNotices(plane, ['stays@example.com']);
    await server.arrived('stays@example.com');
    await until(async () => (await count(plane)) === 0);
    const entry = await em(plane).findOneOrFail(auditEntries, { action: 'send_mail' });
    expect(entry).toMatchObject({
      resourceType: 'user_invites',
      resourceId: body.id,
      userType: 'system',
      responseStatusCode: 502,
    });
    expect(entry.requestBody).toMatchObject({ mail: 'invite', to: 'gone@example.com' });
    expect(JSON.stringify(entry.requestBody)).toContain('550 5.1.1 unknown user');
    await until(() => plane.log.lines.some(({ message }) => message === 'could not send a mail; it is given up'));
    const metrics = await (await fetch(`${plane.url}/metrics`)).text();
    expect(metrics).toMatch(/^svc_mails_total\{outcome="sent",.*\} 1$/m);
    expect(metrics).toMatch(/^svc_mails_total\{outcome="failed",.*\} 1$/m);
  });

  it('a mail that has expired is given up without an attempt', async () => {
    const server = await startServer();
    const plane = await start(server.port, database);
    await addNotices(plane, ['late@example.com'], { endsAt: Date.now() - 1_000 });
    await until(async () => (await em(plane).count(auditEntries, { action: 'send_mail' })) === 1);
    expect(await count(plane)).toBe(0);
    expect(server.letters).toEqual([]);
  });

  it('the audit entry of a mail that expired in an outage has no address of the mail server, and the log has it', async () => {
    const server = await startServer();
    const proxy = await startCuttable(server.port);
    await proxy.cut();
    const plane = await start(proxy.port, database);
    await addNotices(plane, ['late@example.com']);
    await tried(plane, 1);
    await em(plane).execute('update mails set expires_at = now()');
    await sendAgain(plane);
    const entry = await until(() => em(plane).findOne(auditEntries, { action: 'send_mail' }));
    expect(entry.requestBody).toMatchObject({ to: 'late@example.com', error: 'The mail server did not accept mails in time' });
    const outage = plane.log.lines.find(({ message }) => message === 'the mail server does not accept mails; they wait');
    expect(JSON.stringify(outage)).toContain(`127.0.0.1:${proxy.port}`);
  });

  it('a mail whose sender the server refuses is stored without its reply, and the log has it', async () => {
    const reply = '5.7.1 not owned by user operator@mail.example';
    const server = await startServer({ onMailFrom: (_address, _session, done) => done(refusal(reply, 553)) });
    const plane = await start(server.port, database);
    await addNotices(plane, ['waits@example.com']);
    expect((await tried(plane, 1))[0]?.lastError).toBe('The mail server does not accept the sender of this service');
    const warning = plane.log.lines.find(({ level }) => level === 'warn');
    expect(JSON.stringify(warning)).toContain(`553 ${reply}`);
  });

  it('a mail that has expired is deleted by the housekeeping if the mail server was removed', async () => {
    const proxy = await startCuttable((await startServer()).port);
    await proxy.cut();
    const plane = await start(proxy.port, database);
    await addNotices(plane, ['stays@example.com']);
    const { organisationId, vault } = { ...plane, ...plane.control.services };
    const about = { resource: 'users', uri: '/', id: organisationId, workspaceId: null };
    const mail = { organisationId, kind: 'invite', about, to: 'late@example.com', subject: 'S', text: 'T', endsAt: 0 } as const;
    await em(plane).transactional(async (tx) => {
      await addMails(tx, vault, Date.now(), [mail]);
      await deleteExpiredMails(tx, { on: true });
      expect(await tx.count(mails)).toBe(2);
      await deleteExpiredMails(tx, { on: false });
      expect(await tx.count(mails, { kind: 'invite' })).toBe(0);
    });
    expect(await count(plane)).toBe(1);
  });

  it('a mail whose connection is cut in the middle is sent again under the same Message-ID', async () => {
    const server = await startServer();
    const proxy = await startCuttable(server.port);
    const plane = await start(proxy.port, database);
    proxy.cutWhen('Rotate the key', 'cut@example.com');
    await addNotices(plane, ['cut@example.com']);
    const [row] = await tried(plane, 1);
    await sendAgain(plane);
    expect(idOf((await server.arrived('cut@example.com')).text)).toBe(`<${row?.id}@example.com>`);
    await until(async () => (await count(plane)) === 0);
    expect(server.lettersTo('cut@example.com')).toHaveLength(1);
  });

  it('mails of an outage arrive after a restart, each once, also with two control planes', async () => {
    const server = await startServer();
    const proxy = await startCuttable(server.port);
    await proxy.cut();
    const stopped = await start(proxy.port, database);
    await addNotices(stopped, numbered(40));
    await until(() => stopped.log.lines.some(({ message }) => message === 'the mail server does not accept mails; they wait'));
    await stopped.control.close();
    expect(await count(stopped)).toBe(40);
    await proxy.restore();
    const again = () => startPlaneWith(stopped.settings, { database: stopped.control.services.database });
    const both = await Promise.all([again(), again()]);
    await em(stopped).execute('update mails set run_at = now()');
    for (const plane of both) plane.control.services.mailer.wake();
    await until(async () => (await count(stopped)) === 0);
    for (const plane of both) await plane.close();
    expect(server.letters.flatMap(({ to }) => to).sort()).toEqual(numbered(40).sort());
  });
});

describe('mails that wait', () => {
  it('urgent mails arrive while the server stalls notices', async () => {
    const held: (() => void)[] = [];
    let isOpen = false;
    const server = await startServer({
      onRcptTo({ address }, _session, done) {
        if (isOpen || !address.startsWith('notice-')) done();
        else held.push(() => done());
      },
    });
    const plane = await start(server.port);
    await addNotices(plane, numbered(10));
    await until(() => held.length === 1, { what: 'a stalled notice' });
    await invite(plane, 'hurry@example.com');
    await server.arrived('hurry@example.com');
    expect(held).toHaveLength(1);
    isOpen = true;
    for (const release of held) release();
    await until(() => server.letters.length === 11);
  });

  it('mails of an organisation arrive while the server stalls those of another one', async () => {
    const held = new Map<string, () => void>();
    let isOpen = false;
    const server = await startServer({
      onRcptTo({ address }, _session, done) {
        if (isOpen || !address.startsWith('stalled-')) done();
        else held.set(address, done);
      },
    });
    const plane = await start(server.port);
    const { organisationId } = await plane.newTenant();
    const stalled = (kind: 'invite' | 'rotation-notice') => {
      const addresses = Array.from({ length: 4 }, (_, n) => `stalled-${kind}-${n}@example.com`);
      return Promise.all(addresses.map((to) => addNotices(plane, [to], { organisationId, kind, about: { ...about, id: to } })));
    };
    const count = () => [...held.keys()].map((address) => address.split('-')[1]).sort();
    await stalled('rotation-notice');
    await until(() => held.size === 1, { what: 'a stalled notice' });
    await addNotices(plane, ['own-notice@example.com']);
    await server.arrived('own-notice@example.com');
    await stalled('invite');
    await until(() => held.size === 2, { what: 'a stalled invite' });
    await invite(plane, 'hurry@example.com');
    await server.arrived('hurry@example.com');
    expect(count()).toEqual(['invite', 'rotation']);
    isOpen = true;
    for (const done of held.values()) done();
    await until(() => server.letters.length === 10);
  });

  it('notices of an organisation whose data key cannot be opened do not stop those of others; its links are errors', async () => {
    const server = await startServer();
    const plane = await start(server.port);
    const { organisationId } = await plane.newTenant();
    await em(plane).execute(`update data_keys set wrapped = 'other' where organisation_id = ?`, [organisationId]);
    const { mailer } = plane.control.services;
    const notice = { kind: 'budget-event', about, subject: 'S', text: 'T', to: 'lost@example.com', organisationId } as const;
    await em(plane).transactional(async (tx) => {
      await mailer.add(tx, [notice]);
      await mailer.add(tx, [{ ...notice, to: 'kept@example.com', organisationId: plane.organisationId }]);
    });
    mailer.wake();
    await server.arrived('kept@example.com');
    expect(plane.log.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { kind: 'budget-event', reason: expect.stringContaining(organisationId) } },
    ]);
    const link = em(plane).transactional((tx) => mailer.add(tx, [{ ...notice, kind: 'invite' }]));
    await expect(link).rejects.toThrow('cannot decrypt the data key');
  });

  it('a mail that the process could not release is sent again, also while it sends others', async () => {
    const plane = await startPlane(ruleDatabase);
    planes.push(plane);
    const { database, vault, auditKey } = plane.control.services;
    const { organisationId, log } = plane;
    let isDown = true;
    const flaky = () => {
      const em = database.em();
      const execute = em.execute.bind(em);
      em.execute = ((sql: string, ...rest: never[]) => {
        if (isDown && sql.includes('set lease_id = null')) return Promise.reject(new Error('the connection was lost'));
        return execute(sql, ...rest);
      }) as typeof em.execute;
      return em;
    };
    const attempts: string[] = [];
    let release = (): void => {};
    const smtp: Smtp = {
      async send({ to }, signal) {
        attempts.push(to);
        if (to === 'refused@example.com')
          return { outcome: 'refused', reason: '451 later', isFinal: false, isAboutSender: false };
        await new Promise<void>((resolve) => {
          release = resolve;
          signal.addEventListener('abort', () => resolve());
        });
        return { outcome: 'sent' };
      },
      close() {},
    };
    const mail = { organisationId, kind: 'rotation-notice', about, subject: 'S', text: 'T' } as const;
    const add = (to: string, kind: 'invite' | 'rotation-notice') =>
      database.em().transactional((tx) => addMails(tx, vault, Date.now(), [{ ...mail, to, kind }]));
    await add('refused@example.com', 'rotation-notice');
    await add('long@example.com', 'invite');
    const sender = startSender({
      ...{ smtp, database: { ...database, em: flaky }, vault, auditKey, log, leaseMs: 1_000 },
      count: () => {},
    });
    try {
      await until(() => attempts.length === 2, { what: 'both attempts' });
      await until(() => log.lines.some(({ message }) => message === 'could not process a mail; it will be tried again'));
      isDown = false;
      await until(() => attempts.filter((to) => to === 'refused@example.com').length === 2, { what: 'the second attempt' });
      expect(attempts.filter((to) => to === 'long@example.com')).toHaveLength(1);
    } finally {
      release();
      await sender.close();
    }
  });

  it('the loop leaves nothing in memory when no mail waits', async () => {
    const combine = vi.spyOn(AbortSignal, 'any');
    const plane = await start((await startServer()).port);
    await plane.control.close();
    // Each combination with a signal of the process stays in memory until the process ends: nodejs/node#64476.
    expect(combine).not.toHaveBeenCalled();
    combine.mockRestore();
  });

  it('a mail whose text was sent three times without a confirmation is given up', async () => {
    const server = await startServer();
    const proxy = await startCuttable(server.port);
    const plane = await start(proxy.port);
    proxy.cutWhen('Rotate the key', 'cut@example.com');
    await addNotices(plane, ['cut@example.com']);
    for (const attempt of [1, 2]) {
      expect((await tried(plane, attempt))[0]?.unconfirmed).toBe(attempt);
      proxy.cutWhen('Rotate the key', 'cut@example.com');
      await sendAgain(plane);
    }
    const entry = await until(() => em(plane).findOne(auditEntries, { action: 'send_mail' }));
    // Without the reason of the last attempt, which may name hosts of the operator.
    const error = expect.stringMatching(/^The mail server did not confirm the mail in 3 attempts/);
    expect(entry.requestBody).toMatchObject({ to: 'cut@example.com', error });
    expect(await count(plane)).toBe(0);
    expect(server.letters).toEqual([]);
  });

  it('a later link replaces the mail of the earlier one, and a link that was used or has ended is not mailed', async () => {
    const server = await startServer();
    const proxy = await startCuttable(server.port);
    await proxy.cut();
    const plane = await start(proxy.port);
    const kinds = async () => (await em(plane).find(mails, {})).map(({ kind }) => kind).sort();
    await invite(plane, 'cancelled@example.com').then(({ body }) => plane.ask('DELETE', `/admin/users/invites/${body.id}`));
    expect(await kinds()).toEqual([]);
    const { body } = await invite(plane, 'again@example.com');
    const resent = await plane.ask('POST', `/admin/users/invites/${body.id}/resend`, { body: {} });
    const user = (await plane.ask('POST', '/users', { body: { email: 'new@example.com' } })).body;
    const reset = await plane.ask('POST', `/admin/users/${user.id}/password-reset`, { body: {} });
    const removed = (await plane.ask('POST', '/users', { body: { email: 'removed@example.com' } })).body;
    await plane.ask('DELETE', `/admin/users/${removed.id}`);
    expect(await kinds()).toEqual(['invite', 'set-password']);
    const accepted = (await invite(plane, 'accepted@example.com')).body;
    expect((await accept(plane, tokenOf(accepted.invite_link))).status).toBe(200);
    const set = (await plane.ask('POST', '/users', { body: { email: 'set@example.com' } })).body;
    const given = { token: tokenOf(set.set_password_link), password: 'a whole new password' };
    expect((await plane.ask('POST', '/auth/password/reset', { key: null, body: given })).status).toBe(200);
    expect(await kinds()).toEqual(['invite', 'set-password']);
    await proxy.restore();
    await em(plane).execute('update mails set run_at = now()');
    expect((await server.arrived('again@example.com')).text).toContain(resent.body.inviteLink);
    expect((await server.arrived('new@example.com')).text).toContain(reset.body.reset_link);
    expect(server.letters).toHaveLength(2);
  });
});
