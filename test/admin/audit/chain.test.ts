import { appendFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anchorChains, anchorFile, readAnchors } from '../../../admin/audit/anchors.ts';
import { type AuditEntry, auditChains, auditEntries } from '../../../admin/audit/entity.ts';
import { hashEntry } from '../../../admin/audit/hash-entry.ts';
import { verifyChain } from '../../../admin/audit/verify-chain.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { type Plane, startPlane, type Tenant } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

describe.each(databases)('the audit chain, on %s', (database) => {
  let plane: Plane;
  /** Each test has an organisation of its own. */
  let tenant: Tenant;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  beforeEach(async () => {
    tenant = await plane.newTenant();
    for (const slug of ['a', 'b', 'c']) await create(slug);
  });
  afterAll(() => plane?.close());

  const create = (slug: string) =>
    plane.ask('POST', '/configs', {
      key: tenant.adminKey,
      body: { name: slug, slug, config: { provider: '@mock', override_params: { z: 1.5, a: 'ü' } } },
    });
  const em = () => plane.control.services.database.em();
  const verify = async (organisationId = tenant.organisationId) => {
    const anchors = await readAnchors(anchorFile(plane.settings));
    const own = anchors.filter((one) => one.organisationId === organisationId);
    return verifyChain(em(), plane.control.services.auditKey, organisationId, own);
  };
  const entries = () => em().find(auditEntries, { organisationId: tenant.organisationId }, { orderBy: { seq: 'asc' } });
  const at = async (seq: number): Promise<AuditEntry> => (await entries())[seq - 1] as AuditEntry;
  /** Changes that an attacker with all rights on the database could make. */
  const tamper = (sql: string) =>
    em().transactional(async (tx) => {
      await tx.execute('alter table audit_entries disable trigger all');
      await tx.execute(sql);
      await tx.execute('alter table audit_entries enable trigger all');
    });

  it('is intact after changes, rejected attempts and concurrent changes', async () => {
    await plane.ask('DELETE', '/configs/none', { key: tenant.adminKey });
    await Promise.all(Array.from({ length: 12 }, (_, index) => create(`at-once-${index}`)));
    const rows = await entries();
    expect(rows.map((row) => row.seq)).toEqual(rows.map((_, index) => index + 1));
    expect(rows.length).toBeGreaterThanOrEqual(17);
    expect(await verify()).toEqual({ organisationId: tenant.organisationId, intact: rows.length, error: null });
  });

  it('is separate per organisation', async () => {
    const other = await plane.newTenant();
    await plane.ask('POST', '/configs', { key: other.adminKey, body: { name: 'x', config: { provider: '@mock' } } });
    expect(await verify(other.organisationId)).toMatchObject({ intact: 2, error: null });
    expect(await verify()).toMatchObject({ error: null });
  });

  it.each([
    ['what was sent', `request_body = '{"name":"innocent"}'`],
    ['who did it', 'user_id = gen_random_uuid()'],
    ['when', "created_at = created_at - interval '1 hour'"],
    ['the outcome', 'response_status_code = 403'],
    ['the address', "client_ip = '203.0.113.9'"],
    ['the resource', 'resource_id = null'],
    ['the query', `query_params = '{"a":"b"}'`],
  ])('verification names the first entry in which %s was changed', async (_, change) => {
    const { id } = await at(3);
    await tamper(`update audit_entries set ${change} where id = '${id}'`);
    expect(await verify()).toMatchObject({ intact: 2, error: { seq: 3, rowId: id, what: 'it was changed' } });
  });

  it('verification names a removed entry', async () => {
    await tamper(`delete from audit_entries where id = '${(await at(2)).id}'`);
    expect(await verify()).toMatchObject({ intact: 1, error: { seq: 2, rowId: null, what: 'it is missing' } });
  });

  it('verification detects two swapped entries, even with swapped hashes', async () => {
    const [second, third] = [await at(2), await at(3)];
    await tamper(
      `update audit_entries set seq = case id when '${second.id}' then 1003 else 1002 end where id in ('${second.id}', '${third.id}')`,
    );
    await tamper(`update audit_entries set seq = seq - 1000 where seq > 1000 and organisation_id = '${tenant.organisationId}'`);
    expect(await verify()).toMatchObject({ intact: 1, error: { seq: 2, rowId: third.id } });
  });

  it('verification names a row outside the chain', async () => {
    await tamper(
      `insert into audit_entries (id, organisation_id, created_at, method, uri, request_id, query_params, user_type,
         response_status_code, resource_type, action, client_ip)
       values (gen_random_uuid(), '${tenant.organisationId}', now(), 'POST', '/', 'x', '{}', 'user', 200, 'configs', 'create', '-')`,
    );
    expect(await verify()).toMatchObject({ error: { seq: null, what: 'it was not written through the chain' } });
  });

  it('verification names entries cut off the end if the head remains, and by anchors also if not', async () => {
    const last = (await entries()).length;
    await tamper(`delete from audit_entries where seq = ${last} and organisation_id = '${tenant.organisationId}'`);
    expect(await verify()).toMatchObject({ intact: last - 1, error: { seq: last, rowId: null } });
    const before = await at(last - 1);
    await em().nativeUpdate(auditChains, { organisationId: tenant.organisationId }, { seq: last - 1, hash: before.hash ?? '' });
    expect(await verify()).toMatchObject({ intact: last - 1, error: null });
    const anchor = { organisation_id: tenant.organisationId, seq: last, hash: 'what-it-was' };
    await appendFile(anchorFile(plane.settings), `${JSON.stringify(anchor)}\n`);
    expect(await verify()).toMatchObject({ intact: last - 1, error: { seq: last, rowId: null } });
  });

  it('verification detects by anchors a chain that was rebuilt with the key', async () => {
    const log = newMemoryLog();
    await anchorChains(plane.settings, plane.control.services.database, log, Date.now() + 25 * 3_600_000);
    const last = (await entries()).length;
    expect(log.lines.map((line) => line.fields)).toContainEqual(
      expect.objectContaining({ organisationId: tenant.organisationId, seq: last }),
    );
    const row = await at(last);
    const forged = { ...row, action: 'delete', seq: last, previousHash: row.previousHash ?? '' };
    const hash = hashEntry(plane.control.services.auditKey, forged);
    await tamper(`update audit_entries set action = 'delete', hash = '${hash}' where id = '${row.id}'`);
    await em().nativeUpdate(auditChains, { organisationId: tenant.organisationId }, { hash });
    expect(await verify()).toMatchObject({ error: { seq: last, rowId: row.id, what: 'it is not the entry that was anchored' } });
  });

  it('is anchored at most once a day', async () => {
    const lines = async () => (await readAnchors(anchorFile(plane.settings))).length;
    const anchorInHours = (hours: number) =>
      anchorChains(plane.settings, plane.control.services.database, newMemoryLog(), Date.now() + hours * 3_600_000);
    const before = await lines();
    await anchorInHours(100);
    const anchored = await lines();
    expect(anchored).toBeGreaterThan(before);
    await anchorInHours(23);
    expect(await lines()).toBe(anchored);
  });
});
