/**
 * Measures a directory that provisions an organisation over SCIM: the first sync of users and groups, a second sync of the same data, and
 * changes of one member in a large group, and a group whose members get keys. Control plane and client share this process.
 *
 *     node bench/scim.ts [--database postgresql|pglite] [--users 10000] [--groups 500] [--members 2000] [--large 50000] [--patches 100]
 *
 * `postgresql` needs TEST_DATABASE_URL. Four requests are open at a time, as from Entra ID.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPlaneWith, testSettings } from '../test/admin/support/plane.ts';
import { patch, scimClient } from '../test/admin/support/scim-client.ts';
import { newTestDatabase } from '../test/admin/support/test-database.ts';
import { until } from '../test/support/until.ts';

const { values } = parseArgs({
  options: {
    database: { type: 'string', default: 'postgresql' },
    users: { type: 'string', default: '10000' },
    groups: { type: 'string', default: '500' },
    members: { type: 'string', default: '2000' },
    large: { type: 'string', default: '50000' },
    patches: { type: 'string', default: '100' },
  },
});
const atATime = 4;
const partSize = 2_000;
const numbers = (count: string) => Array.from({ length: Number(count) }, (_, n) => n);

/** Returns a value of a sorted list: 0.5 is the middle one. */
const quantile = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;

const database = values.database === 'pglite' ? null : await newTestDatabase();
const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-scim-'));
const settings = {
  ADMIN_REQUESTS_PER_KEY: '0',
  ADMIN_REQUESTS_PER_ADDRESS: '0',
  ...(database ? { DATABASE_URL: database.url } : {}),
};
const plane = await startPlaneWith(testSettings(dataDir, settings));
try {
  const scim = await scimClient(plane);
  const em = () => plane.control.services.database.em();

  /** Median time of a request that reads nothing, for ratios that depend less on other load. */
  async function baseline(): Promise<number> {
    const times: number[] = [];
    for (let n = 0; n < 40; n++) {
      const sentAt = performance.now();
      await scim('GET', '/ServiceProviderConfig');
      times.push(performance.now() - sentAt);
    }
    return quantile(
      times.sort((a, b) => a - b),
      0.5,
    );
  }

  /** Sends the requests of a phase and prints how long they took. CPU time is that of this process, without the database server. */
  async function phase(name: string, items: readonly number[], send: (n: number) => Promise<{ status: number; body: unknown }>) {
    const audits = await plane.auditCount();
    const cpuBefore = process.cpuUsage();
    const start = performance.now();
    const queue = items.values();
    const worker = async () => {
      for (const n of queue) {
        const { status, body } = await send(n);
        if (status >= 300) throw new Error(`${name}: ${status} ${JSON.stringify(body).slice(0, 300)}`);
      }
    };
    await Promise.all(Array.from({ length: atATime }, worker));
    const seconds = (performance.now() - start) / 1_000;
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpu = ((user + system) / 1_000 / items.length).toFixed(1);
    const written = (await plane.auditCount()) - audits;
    const rate = (items.length / seconds).toFixed(1);
    process.stdout.write(
      `${name.padEnd(36)} ${items.length} requests in ${seconds.toFixed(1)} s, ${rate}/s, ${cpu} ms of CPU each, ${written} writes\n`,
    );
  }

  const userIds: string[] = [];
  const groupIds: string[] = [];
  const userOf = (n: number) => ({
    userName: `user-${n}@example.com`,
    externalId: `user-${n}`,
    name: { givenName: `Given ${n}`, familyName: `Family ${n}` },
    emails: [{ value: `user-${n}@example.com`, type: 'work', primary: true }],
    active: true,
  });
  /** Id of a user that is inserted for the large group, counted from 1. */
  const seededId = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const groupOf = (n: number) => ({
    displayName: `ws-Workspace ${n}-role-member`,
    members: numbers(values.members).map((m) => ({ value: seededId(((n * 17 + m) % Number(values.large)) + 1) })),
  });
  await phase('first sync: users', numbers(values.users), async (n) => {
    const reply = await scim('POST', '/Users', userOf(n));
    userIds[n] = reply.body.id;
    return reply;
  });
  const large = Number(values.large);
  const { organisationId } = plane;
  /** Inserts rows for the large group in parts, because each statement must end within the time limit of queries. */
  async function inParts(sql: string, values: readonly unknown[]) {
    for (let from = 1; from <= large; from += partSize) {
      await em().execute(sql, [...values, from, Math.min(from + partSize - 1, large)], 'run');
    }
  }
  await inParts(
    `insert into users (id, organisation_id, email, role, created_at, last_updated_at, revision)
     select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, ?, 'large-' || n || '@example.com', 'member', now(), now(), 1
     from generate_series(?::int, ?::int) n`,
    [organisationId],
  );
  await phase('first sync: groups with workspaces', numbers(values.groups), async (n) => {
    const reply = await scim('POST', '/Groups', groupOf(n));
    groupIds[n] = reply.body.id;
    return reply;
  });
  await phase('second sync: find users', numbers(values.users), (n) =>
    scim('GET', `/Users?filter=${encodeURIComponent(`userName eq "user-${n}@example.com"`)}`),
  );
  await phase('second sync: replace users', numbers(values.users), (n) => scim('PUT', `/Users/${userIds[n]}`, userOf(n)));
  await phase('second sync: replace groups', numbers(values.groups), (n) => scim('PUT', `/Groups/${groupIds[n]}`, groupOf(n)));

  const one = (await scim('POST', '/Users', userOf(large + Number(values.users)))).body.id;
  /** Changes one member again and again. Prints times as multiples of a request that reads nothing. */
  async function changeOne(name: string, groupId: string) {
    const change = (n: number) =>
      scim(
        'PATCH',
        `/Groups/${groupId}`,
        patch({ op: n % 2 === 0 ? 'add' : 'remove', path: 'members', value: [{ value: one }] }),
      );
    for (let n = 0; n < 4; n++) await change(n);
    const before = await baseline();
    const times: number[] = [];
    globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed;
    for (const n of numbers(values.patches)) {
      const sentAt = performance.now();
      const { status } = await change(n);
      if (status !== 204) throw new Error(`PATCH: ${status}`);
      times.push(performance.now() - sentAt);
    }
    globalThis.gc?.();
    const grown = ((process.memoryUsage().heapUsed - heap) / 1_048_576).toFixed(1);
    const base = (before + (await baseline())) / 2;
    times.sort((a, b) => a - b);
    const [median, slow] = [quantile(times, 0.5), quantile(times, 0.95)];
    process.stdout.write(
      `${name.padEnd(48)} p50 ${median.toFixed(1)} ms (${(median / base).toFixed(1)} ×), p95 ${slow.toFixed(1)} ms, heap ${grown} MiB\n`,
    );
  }

  for (const [kind, displayName] of [
    ['without a workspace', 'Large'],
    ['with a workspace', 'ws-Large-role-member'],
  ] as const) {
    const small = (await scim('POST', '/Groups', { displayName: displayName.replace('Large', 'Small') })).body.id;
    const { id } = (await scim('POST', '/Groups', { displayName })).body;
    await inParts(
      `insert into scim_group_members (organisation_id, group_id, user_id)
       select ?::uuid, ?::uuid, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid from generate_series(?::int, ?::int) n`,
      [organisationId, id],
    );
    await inParts(
      `insert into workspace_members (id, organisation_id, workspace_id, user_id, role, by_group, created_at, last_updated_at, revision)
       select gen_random_uuid(), w.organisation_id, w.workspace_id,
         ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'member', true, now(), now(), 1
       from scim_group_workspaces w, generate_series(?::int, ?::int) n where w.group_id = '${id}'`,
      [],
    );
    for (const table of ['users', 'scim_group_members', 'workspace_members']) await em().execute(`analyze ${table}`, [], 'run');
    await changeOne(`one member, empty group ${kind}`, small);
    await changeOne(`one member, group of ${large} ${kind}`, id);
  }

  await plane.ask('PUT', '/organisations/self', { body: { settings: { user_api_key_auto_create: true } } });
  await phase('create a group with keys', [0], async () => {
    const members = numbers(values.members).map((m) => ({ value: seededId(m + 1) }));
    const reply = await scim('POST', '/Groups', { displayName: 'ws-Keys-role-member', members });
    groupIds.push(reply.body.id);
    return reply;
  });
  const start = performance.now();
  const keysLeft = async () =>
    (await em().execute<unknown[]>("select 1 from jobs where kind = 'provision-user-keys'")).length > 0;
  await until(async () => !(await keysLeft()), { what: 'the keys of all members', deadlineMs: 600_000 });
  process.stdout.write(`the jobs create its keys in ${((performance.now() - start) / 1_000).toFixed(1)} s\n`);
  await phase('remove the group with its keys', [0], () => scim('DELETE', `/Groups/${groupIds.at(-1)}`));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
} finally {
  await plane.close();
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit();
