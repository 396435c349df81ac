import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type FreshReply, onFreshConnection } from '../support/clients/fresh-connection.ts';
import { freePort } from '../support/processes/free-port.ts';
import { natsMissing, newNatsServer } from '../support/processes/nats-server.ts';
import {
  type GatewayWithUpstream,
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  startGatewayWithUpstream,
} from '../support/product/gateway-with-upstream.ts';
import { productFile } from '../support/product/product.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { until } from '../support/until.ts';
import { openaiError } from '../support/upstream/fake-upstream.ts';

const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] };
const chatPath = '/v1/chat/completions';
const config = {
  strategy: { mode: 'fallback', cb_config: { failure_threshold: 1, cooldown_interval: 30_000 } },
  targets: [{ provider: '@oai' }, { provider: '@ant' }],
};

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Open circuits by process, as the metrics of this origin show them. */
async function openCircuits(origin: string): Promise<Record<string, number>> {
  const page = await (await fetch(`${origin}/metrics`)).text();
  const lines = [...page.matchAll(/^svc_circuits_open\{[^}]*process="(\d+)"[^}]*\} (\d+)/gm)];
  return Object.fromEntries(lines.map(([, process, value]) => [process, Number(value)]));
}

const ask = (gateway: SharedGatewayWithUpstream, slug: string, origin: string = gateway.origin): Promise<FreshReply> =>
  onFreshConnection(`${origin}${chatPath}`, {
    headers: { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-config': slug },
    body,
  });
const targetOf = (reply: FreshReply): string => `${reply.status} ${reply.headers['x-svc-last-used-option-index']}`;
const chatCalls = ({ upstream }: Pick<SharedGatewayWithUpstream, 'upstream'>): number =>
  upstream.requests.filter((request) => request.path === chatPath).length;

it('shared circuits: one opened by a gateway process of a machine is open in the other', async () => {
  const gateway = await shareGatewayWithUpstream('pair');
  closers.push(() => gateway.close());
  const slug = await gateway.admin.createConfig(config);
  await until(async () => Object.keys(await openCircuits(gateway.origin)).length === 2, { what: 'two processes' });

  gateway.upstream.once(chatPath, openaiError(500, 'down'));
  const failedOver = await ask(gateway, slug);
  expect(targetOf(failedOver)).toBe('200 config.targets[1]');
  expect(chatCalls(gateway)).toBe(1);

  // Twenty connections reach both processes almost certainly. The provider has recovered, and no request has reached it yet.
  const settled = async () => {
    gateway.upstream.reset();
    const replies = await Promise.all(Array.from({ length: 20 }, () => ask(gateway, slug)));
    return replies.every((reply) => targetOf(reply) === '200 config.targets[1]') && replies;
  };
  const replies = await until(settled, { what: 'all processes passing over the target' });
  expect(chatCalls(gateway)).toBe(0);
  await until(async () => expect(await openCircuits(gateway.origin)).toEqual({ 0: 1, 1: 1 }) ?? true);
  const log = await gateway.logOf(String(replies[0]?.headers['x-svc-trace-id']));
  expect(log.attempts).toHaveLength(1);
  expect(log.decisions).toEqual([{ targetPath: 'config.targets[0]', decision: 'circuit_open' }]);

  // A new version of the config begins with closed circuits.
  const path = `/configs/${slug}?workspace_id=${gateway.workspaceId}`;
  expect((await gateway.admin.put(path, { config: { ...config, request_timeout: 60_000 } })).status).toBe(200);
  await until(async () => {
    const after = await Promise.all(Array.from({ length: 20 }, () => ask(gateway, slug)));
    return after.every((reply) => targetOf(reply) === '200 config.targets[0]');
  });
});

if (natsMissing) console.warn(`skipped: circuits between machines (${natsMissing})`);
describe.skipIf(natsMissing)('circuits of several machines', () => {
  /** A second machine: a separate gateway process with the same keys and control plane. */
  async function startSecondMachine(first: GatewayWithUpstream, env: Record<string, string>): Promise<string> {
    const port = await freePort();
    const dataDir = await mkdtemp(join(tmpdir(), 'svc-second-'));
    const child = spawn(process.execPath, [await productFile('core/main')], {
      stdio: 'ignore',
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: String(port),
        ROLE: 'gateway',
        CONTROL_PLANE_URL: first.controlPlaneUrl,
        DATA_DIR: dataDir,
        TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
        LOG_LEVEL: 'silent',
        ...cheapStartEnv,
        ...env,
      },
    });
    const exited = once(child, 'exit');
    closers.push(async () => {
      child.kill('SIGTERM');
      await exited;
      await rm(dataDir, { recursive: true, force: true });
    });
    const origin = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${origin}/v1/health`)).status === 200, {
      what: 'the second machine',
      deadlineMs: 30_000,
    });
    return origin;
  }

  it('are shared over NATS, and detected by each machine while NATS is away', async () => {
    const nats = await newNatsServer();
    await nats.start();
    closers.push(() => nats.kill());
    const key = () => randomBytes(32).toString('base64');
    const env = { NATS_URL: nats.url, ENCRYPTION_KEY: key(), CLUSTER_KEY: key() };
    const first = await startGatewayWithUpstream({ env });
    closers.push(() => first.close());
    const second = await startSecondMachine(first, env);
    const slug = await first.admin.createConfig(config);
    for (const origin of [first.origin, second]) expect(targetOf(await ask(first, slug, origin))).toBe('200 config.targets[0]');

    first.upstream.reset();
    first.upstream.once(chatPath, openaiError(500, 'down'));
    expect(targetOf(await ask(first, slug))).toBe('200 config.targets[1]');
    await until(async () => (await openCircuits(second))['0'] === 1, { what: 'the open circuit at the second machine' });
    expect(targetOf(await ask(first, slug, second))).toBe('200 config.targets[1]');
    expect(chatCalls(first)).toBe(1);

    const other = await first.admin.createConfig(config, 'other');
    for (const origin of [first.origin, second]) await ask(first, other, origin);
    await nats.kill();
    first.upstream.reset();
    first.upstream.on(chatPath, openaiError(500, 'down'));
    expect(targetOf(await ask(first, other))).toBe('200 config.targets[1]');
    expect(targetOf(await ask(first, other, second))).toBe('200 config.targets[1]');
    expect(chatCalls(first)).toBe(2);
    expect(targetOf(await ask(first, other, second))).toBe('200 config.targets[1]');
    expect(chatCalls(first)).toBe(2);
  });
});
