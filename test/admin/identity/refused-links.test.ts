import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../admin/audit/entity.ts';
import { mailLink } from '../../../admin/identity/links.ts';
import { until } from '../../support/until.ts';
import { accept, newPerson, tokenOf } from '../support/people.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabases } from '../support/test-database.ts';

describe.each(ruleDatabases)('refused links, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const send = (path: string, body: object) => plane.ask('POST', path, { key: null, body });

  /** Expects this refusal and its entry. Returns the entry. */
  async function refused(reply: Awaited<ReturnType<typeof send>>, status: number) {
    expect(reply.status).toBe(status);
    const requestId = reply.headers.get('x-request-id') ?? '';
    const em = () => plane.control.services.database.em();
    const entry = await until(() => em().findOne(auditEntries, { requestId }), { what: 'the audit entry' });
    expect(entry).toMatchObject({
      organisationId: plane.organisationId,
      responseStatusCode: status,
      errorCode: reply.body.data.errorCode,
    });
    return entry;
  }

  async function linkOf(purpose: 'set-password' | 'verify-email') {
    const person = await newPerson(plane);
    const { services } = plane.control;
    const user = { id: person.id, organisationId: plane.organisationId, email: person.email };
    const link = await services.database.emOf(plane.organisationId).transactional((tx) => mailLink(tx, services, user, purpose));
    return { token: tokenOf(link), userId: person.id };
  }

  it('have an audit entry without secrets, for invites that are invalid or used', async () => {
    const body = { email: 'invited@example.com', role: 'member', workspaces: [] };
    const token = tokenOf((await plane.ask('POST', '/admin/users/invites', { body })).body.invite_link);
    const entry = await refused(await send('/auth/invites/accept', { token, password: 'short', secretly: 'my-own-text' }), 400);
    expect(entry).toMatchObject({ action: 'accept', errorCode: 'AB01' });
    for (const secret of [token, 'short', 'my-own-text']) expect(JSON.stringify(entry.requestBody)).not.toContain(secret);
    expect((await accept(plane, token)).status).toBe(200);
    expect(await refused(await accept(plane, token), 404)).toMatchObject({ action: 'accept', userId: null });
  });

  it('have an audit entry of their user, for links that are invalid or used', async () => {
    const { token, userId } = await linkOf('set-password');
    const password = 'correct horse battery';
    expect(await refused(await send('/auth/password/reset', { token, password: 'short' }), 400)).toMatchObject({ userId });
    expect((await send('/auth/password/reset', { token, password })).status).toBe(200);
    expect(await refused(await send('/auth/password/reset', { token, password }), 404)).toMatchObject({ userId });
    const verifying = await linkOf('verify-email');
    expect((await send('/auth/verify-email', { token: verifying.token })).status).toBe(200);
    const entry = await refused(await send('/auth/verify-email', { token: verifying.token }), 404);
    expect(entry).toMatchObject({ action: 'verify_email', userId: verifying.userId });
  });

  it('have no entry if the token is unknown', async () => {
    const before = await plane.auditCount();
    for (const token of ['unknown', 7, null]) {
      expect((await send('/auth/verify-email', { token })).status).toBeGreaterThanOrEqual(400);
    }
    await plane.control.services.background.settled();
    expect(await plane.auditCount()).toBe(before);
  });
});
