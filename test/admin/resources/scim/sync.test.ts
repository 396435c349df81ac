import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../../support/plane.ts';
import { type ScimAsk, scimClient } from '../../support/scim-client.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const users = 12;
const names = Array.from({ length: users }, (_, n) => `sync-${n}@example.com`);
const groups = ['ws-Sync-role-member', 'ws-Sync-role-admin'];

describe.each(ruleDatabases)('a sync of a directory, on %s', (database) => {
  let plane: Plane;
  let scim: ScimAsk;
  beforeAll(async () => {
    plane = await startPlane(database);
    scim = await scimClient(plane);
  });
  afterAll(() => plane?.close());

  const found = async (type: 'Users' | 'Groups', attribute: string, value: string) => {
    const filter = encodeURIComponent(`${attribute} eq "${value}"`);
    const { body } = await repeated(() => scim('GET', `/${type}?filter=${filter}`));
    return body.Resources.map((one: { id: string }) => one.id) as string[];
  };

  /** Directories repeat a request after 503 and after a cut connection. */
  async function repeated<Reply extends { status: number; body: unknown }>(send: () => Promise<Reply>): Promise<Reply> {
    for (let left = 20; ; left--) {
      const reply = await send().catch(() => null);
      if (reply && reply.status < 300) return reply;
      if (left === 0 || (reply && reply.status !== 503)) throw new Error(`${reply?.status} ${JSON.stringify(reply?.body)}`);
    }
  }

  /** Creates or replaces a resource, as directories do in each cycle. */
  async function put(type: 'Users' | 'Groups', attribute: string, resource: Readonly<Record<string, unknown>>) {
    const [id] = await found(type, attribute, String(resource[attribute]));
    return id === undefined ? scim('POST', `/${type}`, resource) : scim('PUT', `/${type}/${id}`, resource);
  }

  const putUser = (userName: string) => put('Users', 'userName', { userName });
  async function putGroups() {
    const ids = (await Promise.all(names.map((name) => found('Users', 'userName', name)))).flat();
    for (const displayName of groups) {
      await repeated(() => put('Groups', 'displayName', { displayName, members: ids.map((value) => ({ value })) }));
    }
    return ids;
  }
  const status = async (key = plane.adminKey) => (await plane.ask('GET', '/scim/status', { key })).body;

  it('is resumed after all connections of the database were cut: nothing is lost, nothing is written twice', async () => {
    const queue = names.values();
    const replies: number[] = [];
    let isCut = false;
    const cut = async () => {
      isCut = true;
      const em = plane.control.services.database.em();
      const others =
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
      if (database === 'PostgreSQL') await em.execute(others);
    };
    const worker = async () => {
      for (const name of queue) {
        if (isCut) return;
        replies.push(
          await putUser(name).then(
            (reply) => reply.status,
            () => 0,
          ),
        );
        if (replies.length === users / 2) await cut();
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    const before = await status();
    expect(before.users.provisioned).toBeGreaterThan(0);
    expect(before.users.provisioned).toBeLessThan(users);

    for (const name of names) await repeated(() => putUser(name));
    const ids = await putGroups();
    expect(new Set(ids).size).toBe(users);
    expect(ids).toHaveLength(users);
    expect(await status()).toMatchObject({
      users: { provisioned: users, active: users + before.users.active - before.users.provisioned },
      groups: { total: groups.length, mapped: groups.length, members: groups.length * users },
    });
    const [mapping] = (await plane.ask('GET', '/scim/workspaces')).body.mappings;
    const members = (await plane.ask('GET', `/admin/workspaces/${mapping.workspace_id}/users?page_size=100`)).body.data;
    expect(members.map((one: { id: string; role: string }) => [one.id, one.role]).sort()).toEqual(
      ids.map((id) => [id, 'admin']).sort(),
    );

    const written = await plane.auditCount();
    for (const name of names) expect((await putUser(name)).status).toBe(200);
    await putGroups();
    expect(await plane.auditCount()).toBe(written);
  });

  it('shows administrators of the organisation its progress, refusals and waiting jobs', async () => {
    const refused = await scim('POST', '/Users', { userName: names[0] });
    expect(refused.status).toBe(409);
    const shown = await status();
    expect(shown).toMatchObject({
      object: 'scim-status',
      refusals: { last_hour: 1, last: { method: 'POST', status: 409, code: 'AB07' } },
      jobs: { waiting: 0, failing: 0 },
    });
    expect(shown.changes.last_minute).toBeLessThanOrEqual(shown.changes.last_hour);
    expect(shown.changes.last_hour).toBeGreaterThanOrEqual(users + groups.length);
    expect(Date.parse(shown.last_request_at)).toBeGreaterThan(Date.now() - 600_000);
    const metrics = await (await fetch(`${plane.url}/metrics`)).text();
    expect(metrics).toMatch(/^svc_admin_requests_total\{surface="scim",method="POST",status="409",process="control-plane"\} 1$/m);

    const other = await plane.newTenant();
    expect(await status(other.adminKey)).toMatchObject({
      last_request_at: null,
      users: { provisioned: 0 },
      groups: { total: 0, mapped: 0, members: 0 },
      refusals: { last_hour: 0, last: null },
    });
    const reader = await plane.newKey(['logs.list'], 'organisation/service');
    expect((await plane.ask('GET', '/scim/status', { key: reader })).status).toBe(403);
  });
});
