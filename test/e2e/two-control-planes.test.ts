import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MikroORM } from '@mikro-orm/postgresql';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newReadyDatabase, postgresMissing, type TestDatabase } from '../admin/support/test-database.ts';
import { freePorts } from '../support/processes/free-port.ts';
import { childrenOf, isAlive } from '../support/processes/process-tree.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { productFile } from '../support/product/product.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { until } from '../support/until.ts';

/** Batches on one PostgreSQL, run by two control planes. One of them is killed. */
describe.skipIf(postgresMissing !== null)('two control planes', () => {
  const key = () => randomBytes(32).toString('base64');
  const bucketLines = 5;
  let database: TestDatabase;
  let gateway: GatewayWithUpstream;
  let second: ChildProcess;
  let secondDir: string;
  let orm: MikroORM;

  beforeAll(async () => {
    database = await newReadyDatabase();
    const shared = {
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: key(),
      CLUSTER_KEY: key(),
      BATCH_INTERVAL: '50',
      JOB_LEASE: '3000',
      BATCH_BUCKET_LINES: String(bucketLines),
    };
    gateway = await startGatewayWithUpstream({ env: shared });
    secondDir = await mkdtemp(join(tmpdir(), 'svc-second-'));
    const [port] = await freePorts(1);
    second = spawn(process.execPath, [await productFile('core/supervisor/main')], {
      env: {
        ...{ PATH: process.env.PATH, ...cheapStartEnv, ...shared },
        ...{ ROLE: 'control-plane', DATA_DIR: secondDir, CONTROL_PLANE_PORT: String(port), HOST: '127.0.0.1' },
        ...{ GATEWAY_URL: gateway.origin, LOG_LEVEL: 'warn' },
      },
      stdio: 'inherit',
    });
    await until(async () => (await fetch(`http://127.0.0.1:${port}/ready`).catch(() => null))?.status === 200, {
      what: 'the second control plane',
      deadlineMs: 60_000,
    });
    orm = await MikroORM.init({ clientUrl: database.url, entities: [], discovery: { warnWhenNoEntities: false } });
  });
  afterAll(async () => {
    await orm?.close(true);
    killAll();
    await gateway?.close();
    await rm(secondDir, { recursive: true, force: true });
    await database?.drop();
  });

  /** SIGKILL to the second control plane and its supervisor, so that it is not restarted. */
  function killAll(): number[] {
    if (second?.pid === undefined || second.exitCode !== null || second.signalCode !== null) return [];
    const pids = [second.pid, ...childrenOf(second.pid)];
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return pids;
  }

  it('share the batches, run each line once, and finish those of a killed one', async () => {
    const { upstream } = gateway;
    const times = new Map<string, number>();
    upstream.on(
      (request) => request.path.endsWith('/chat/completions'),
      async (exchange) => {
        const { model, messages } = JSON.parse(exchange.request.text);
        const id = messages[0].content as string;
        times.set(id, (times.get(id) ?? 0) + 1);
        exchange.response.setHeader('content-type', 'application/json');
        exchange.response.end(
          JSON.stringify({
            ...{ id: 'c', object: 'chat.completion', created: 1, model },
            choices: [{ index: 0, message: { role: 'assistant', content: `echo ${id}` }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          }),
        );
      },
    );
    const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: gateway.workspaceKey, maxRetries: 0 });
    const count = 8;
    const ids = Array.from({ length: count }, (_, b) => Array.from({ length: 120 }, (_, i) => `b${b}-${i}`));
    const made: string[] = [];
    for (const batch of ids) {
      const text = batch.map((id) =>
        JSON.stringify({
          custom_id: id,
          method: 'POST',
          url: '/v1/chat/completions',
          body: { model: '@oai/gpt-4o-mini', messages: [{ role: 'user', content: id }] },
        }),
      );
      const file = await client.files.create({ file: new File([text.join('\n')], 'in.jsonl'), purpose: 'batch' });
      const body = { input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: 'immediate' };
      made.push((await client.batches.create(body as never)).id);
    }
    const seen = new Set<string>();
    await until(
      async () => {
        const rows = await orm.em.fork().execute<{ lease_id: string }[]>('select lease_id from jobs where lease_id is not null');
        for (const row of rows) seen.add(row.lease_id);
        return seen.size >= 2 && times.size >= 100;
      },
      { what: 'work of both', deadlineMs: 60_000 },
    );
    expect(times.size).toBeLessThan(ids.flat().length);
    const pids = killAll();
    expect(pids.length).toBeGreaterThan(1);
    await until(() => pids.every((pid) => !isAlive(pid)), { what: 'the end of the second one' });
    for (const [index, id] of made.entries()) {
      const done = await until(
        async () => {
          const batch = await client.batches.retrieve(id);
          return batch.status === 'completed' ? batch : null;
        },
        { what: `batch ${index}`, deadlineMs: 120_000 },
      );
      expect(done.request_counts).toEqual({ total: 120, completed: 120, failed: 0 });
      const lines = (await (await client.files.content(done.output_file_id as string)).text()).trimEnd().split('\n');
      expect(lines.map((line) => JSON.parse(line).custom_id)).toEqual(ids[index]);
    }
    // At most the lines that were in flight in the killed process are sent twice: one bucket of each of its batches.
    const twice = [...times].filter(([, sent]) => sent > 1);
    expect(twice.every(([, sent]) => sent === 2)).toBe(true);
    expect(twice.length).toBeLessThanOrEqual(bucketLines * count);
    expect(times.size).toBe(ids.flat().length);
  }, 300_000);
});
