import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNats } from '../../bench/services/nats.ts';
import { startPostgres } from '../../bench/services/postgres.ts';
import type { Service } from '../../bench/services/service.ts';
import { newApiKey } from '../../core/contract/values/credentials/api-key.ts';
import { readLastKnownGood } from '../../core/documents/last-known-good.ts';
import { diskKey } from '../../core/documents/start-documents.ts';
import { onFreshConnection } from '../support/clients/fresh-connection.ts';
import { newMemoryLog } from '../support/fakes/memory-log.ts';
import { listenersOn } from '../support/processes/connections-to.ts';
import { isAlive } from '../support/processes/process-tree.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';

const postgres = await startPostgres();
const nats = await startNats();
const missing = [postgres ? null : 'PostgreSQL', nats ? null : 'nats-server'].filter((name) => name !== null);
if (missing.length > 0) console.error(`skipped: not installed here: ${missing.join(', ')}`);

const chat = { model: '@oai/gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] };

describe.skipIf(missing.length > 0)('failure table: dependencies', () => {
  let gateway: GatewayWithUpstream;
  const database = postgres as Service;
  const bus = nats as Service;

  /** A call over its own connection, so that every gateway process gets some. */
  const call = (headers: Record<string, string> = {}) =>
    onFreshConnection(`${gateway.baseUrl}/chat/completions`, {
      headers: { 'x-svc-api-key': gateway.workspaceKey, ...headers },
      body: chat,
    });
  const statusOf = async (calling: ReturnType<typeof call>) => (await calling).status;
  const traceOf = (reply: Awaited<ReturnType<typeof call>>) => String(reply.headers['x-svc-trace-id']);
  const manyCalls = () => Promise.all(Array.from({ length: 24 }, () => statusOf(call())));
  const allGood = Array.from({ length: 24 }, () => 200);
  const encryptionKey = randomBytes(32);
  const clusterKey = randomBytes(32);
  /** A process has an id long before it listens, and until then the other one replies to all calls. */
  const bothListen = () => until(() => listenersOn(gateway.port) === 2, { what: 'two listening processes', deadlineMs: 60_000 });
  /** True if a restarted process has the documents of these calls without the control plane. New ones are not written at once. */
  const onDisk = async () => {
    const directory = join(gateway.dataDir, 'last-known-good');
    const key = diskKey({ encryptionKey, clusterKey });
    const known = await readLastKnownGood({ directory, slot: 0, key, log: newMemoryLog() });
    const kinds = new Set<string>(known?.documents.map(({ kind }) => kind));
    return ['api-key', 'workspace', 'provider'].every((kind) => kinds.has(kind));
  };
  const modelShown = async (headers: Record<string, string>) => {
    await statusOf(call(headers));
    return gateway.upstream.last.json().model;
  };

  beforeAll(async () => {
    gateway = await startGatewayWithUpstream({
      env: {
        ...{ DATABASE_URL: database.url, NATS_URL: bus.url, GATEWAY_PROCESSES: '2' },
        ENCRYPTION_KEY: encryptionKey.toString('base64'),
        CLUSTER_KEY: clusterKey.toString('base64'),
      },
    });
    await bothListen();
    // Both must have the documents of these calls.
    for (let round = 0; round < 3; round++) expect(await manyCalls()).toEqual(allGood);
    await until(onDisk, { what: 'the documents on disk', deadlineMs: 60_000 });
  });
  afterAll(async () => {
    await gateway?.close();
    await Promise.all([postgres?.close(), nats?.close()]);
  });

  describe('while the database is down', () => {
    beforeAll(() => database.down());
    afterAll(async () => {
      await database.up();
      await until(async () => (await gateway.admin.get('/configs')).status === 200, { what: 'the database', deadlineMs: 20_000 });
    });

    it('known keys are served, also by a process that started meanwhile', async () => {
      expect(await manyCalls()).toEqual(allGood);
      const [killed] = gateway.pidsOf('gateway') as [number, number];
      process.kill(killed, 'SIGKILL');
      await until(() => !isAlive(killed) && gateway.pidsOf('gateway').length === 2, { what: 'a process in its place' });
      await bothListen();
      expect(await manyCalls()).toEqual(allGood);
    });

    it('unknown keys get 503, never 401', async () => {
      const unknown = await call({ 'x-svc-api-key': newApiKey('ws').text });
      expect(unknown.status).toBe(503);
      expect(unknown.headers['retry-after']).toMatch(/^\d+$/);
    });

    it('reads and writes of the admin API get 503 with retry-after', async () => {
      const read = await gateway.admin.get('/configs');
      expect([read.status, read.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      const write = await gateway.admin.post('/configs', { name: 'half-written', config: { provider: '@oai' } });
      expect([write.status, write.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    });
  });

  it('after the database is back: failed writes left nothing, and records of the outage are stored', async () => {
    const list = await gateway.admin.get('/configs');
    expect(list.status).toBe(200);
    expect(JSON.stringify(list.body)).not.toContain('half-written');
    const reply = await call();
    expect((await gateway.logOf(traceOf(reply))).outcome).toBe('success');
  });

  describe('while NATS is down', () => {
    it('calls and changes continue, and a change made meanwhile applies afterwards', async () => {
      const config = (model: string) => ({ provider: '@oai', override_params: { model } });
      const slug = await gateway.admin.createConfig(config('before'));
      const headers = { 'x-svc-config': slug };
      expect(await modelShown(headers)).toBe('before');
      await bus.down();
      try {
        expect(await manyCalls()).toEqual(allGood);
        expect((await gateway.admin.put(`/configs/${slug}`, { config: config('after') })).status).toBe(200);
      } finally {
        await bus.up();
      }
      await until(async () => {
        for (let round = 0; round < 8; round++) if ((await modelShown(headers)) !== 'after') return false;
        return true;
      });
    });
  });

  describe('while the control plane is down', () => {
    it('known keys are served, unknown ones get 503, and it is restarted', async () => {
      const unseen = (await gateway.admin.createKey()).key;
      const [pid] = gateway.pidsOf('control-plane') as [number];
      process.kill(pid, 'SIGSTOP');
      try {
        expect(await manyCalls()).toEqual(allGood);
        expect(await statusOf(call({ 'x-svc-api-key': unseen }))).toBe(503);
      } finally {
        process.kill(pid, 'SIGKILL');
      }
      await until(async () => (await statusOf(call({ 'x-svc-api-key': unseen }))) === 200, { deadlineMs: 20_000 });
    });
  });

  describe('after a gateway process is killed', () => {
    it('the others continue, it is replaced, and its replies are recorded once', async () => {
      const before = gateway.pidsOf('gateway');
      const replies = await Promise.all(Array.from({ length: 24 }, () => call()));
      expect(replies.map(({ status, body }) => (status === 200 ? status : body))).toEqual(allGood);
      const killed = before[0] as number;
      process.kill(killed, 'SIGKILL');
      await until(async () => (await statusOf(call())) === 200);
      await until(() => {
        const pids = gateway.pidsOf('gateway');
        return !pids.includes(killed) && pids.filter((pid) => isAlive(pid)).length === 2;
      });
      await bothListen();
      expect(await manyCalls()).toEqual(allGood);
      // A reply that was completed in the last moment can have the record of an interrupted call (decision 0495).
      for (const reply of replies) expect(['success', 'interrupted']).toContain((await gateway.logOf(traceOf(reply))).outcome);
    });
  });
});
