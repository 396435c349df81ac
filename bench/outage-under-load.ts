/**
 * Takes away what the gateways depend on, one thing after another, under load. Ends with 1 when a call with a known key fails, or when
 * a change made meanwhile is not enforced within a second (`--within`) of the return: see README.md.
 *
 *     node bench/outage-under-load.ts [--seconds 60] [--connections 16] [--rate 2000]
 *         [--only control-plane-stopped,control-plane-killed,nats,postgres] [--within 1000]
 *
 * `--within`: milliseconds. `--rate`: calls per second at the most. At full speed a minute of records fills gigabytes, and what is measured is the disk.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type RunningGateway, startGateway } from '../test/support/product/start-gateway.ts';
import { until } from '../test/support/until.ts';
import { ClosedLoop } from './load/closed-loop.ts';
import { warmUp } from './load/warm-up.ts';
import { end, startServer } from './processes.ts';
import { chatBody } from './scenarios.ts';
import { startNats } from './services/nats.ts';
import { startPostgres } from './services/postgres.ts';
import type { Service } from './services/service.ts';

interface Stage {
  readonly running: RunningGateway;
  readonly nats: Service | null;
  readonly postgres: Service | null;
  readonly outageMs: number;
  /** Saves the config under test, so that replies name this model. Returns the status. */
  change(model: string): Promise<number>;
}

/**
 * Interrupts one dependency. Resolves when it is back, with the time from which the change must be in effect. Null: not possible
 * here.
 */
type Outage = (stage: Stage, model: string) => Promise<{ dueFromMs: number } | null>;

const outages: Readonly<Record<string, Outage>> = {
  async 'control-plane-stopped'({ running, outageMs, change }, model) {
    const pids = running.pidsOf('control-plane');
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await pause(outageMs / 2);
    // The change waits in the stopped process and completes as soon as that resumes.
    const changed = change(model);
    await pause(outageMs / 2);
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    const returnedMs = performance.now();
    if ((await changed) !== 200) await until(async () => (await change(model)) === 200, { what: 'a change after the stop' });
    return { dueFromMs: Math.max(returnedMs, performance.now()) };
  },

  async 'control-plane-killed'({ running, outageMs, change }, model) {
    if ((await change(model)) !== 200) throw new Error('the change before the kill was refused');
    // Killed immediately after its reply, so that the notice of the change may not have been sent.
    const endMs = performance.now() + outageMs;
    while (performance.now() < endMs) {
      for (const pid of running.pidsOf('control-plane')) process.kill(pid, 'SIGKILL');
      await pause(20);
    }
    await until(async () => (await running.admin.get('/configs')).status === 200, {
      what: 'the control plane',
      deadlineMs: 30_000,
    });
    return { dueFromMs: performance.now() };
  },

  async nats({ nats, outageMs, change }, model) {
    if (!nats) return null;
    await nats.down();
    await pause(outageMs / 2);
    if ((await change(model)) !== 200) throw new Error('the control plane refused a change while NATS was away');
    await pause(outageMs / 2);
    await nats.up();
    return { dueFromMs: performance.now() };
  },

  async postgres({ postgres, outageMs, change }, model) {
    if (!postgres) return null;
    await postgres.down();
    await pause(outageMs / 2);
    const status = await change(model);
    if (status !== 503) throw new Error(`a change while PostgreSQL was away gave ${status}, not 503`);
    await pause(outageMs / 2);
    await postgres.up();
    await until(async () => (await change(model)) === 200, { what: 'a change after PostgreSQL came back' });
    return { dueFromMs: performance.now() };
  },
};

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    connections: { type: 'string', default: '16' },
    rate: { type: 'string', default: '2000' },
    within: { type: 'string', default: '1000' },
    only: { type: 'string', default: Object.keys(outages).join(',') },
  },
});
const withinMs = Number(values.within);
const names = values.only.split(',');
const failures: string[] = [];
const upstream = await startServer([], new URL('./fake-upstream.ts', import.meta.url), []);
const nats = names.includes('nats') ? await startNats() : null;
const postgres = names.includes('postgres') ? await startPostgres() : null;
let gateway: RunningGateway | null = null;
try {
  const env = { GATEWAY_PROCESSES: '2', LOG_LEVEL: 'fatal' };
  gateway = await startGateway({
    env: { ...env, ...(nats ? { NATS_URL: nats.url } : {}), ...(postgres ? { DATABASE_URL: postgres.url } : {}) },
  });
  await tryOutages(gateway);
} catch (error) {
  failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
} finally {
  await gateway?.kill();
  await nats?.close();
  await postgres?.close();
  await end(upstream.child);
}
for (const failure of failures) say(`FAULT ${failure}`);
process.exit(failures.length === 0 ? 0 : 1);

async function tryOutages(running: RunningGateway): Promise<void> {
  const { admin } = running;
  const provider = await admin.createUpstream('bench', `http://127.0.0.1:${upstream.port}/v1`);
  const configFor = (model: string) => ({ provider, override_params: { model } });
  const slug = await admin.createConfig(configFor('bench-r1000'));
  const stage: Stage = {
    running,
    nats,
    postgres,
    outageMs: Number(values.seconds) * 1000,
    change: async (model) => (await admin.put(`/configs/${slug}`, { config: configFor(model) })).status,
  };
  const target = {
    url: `${running.baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', 'x-svc-api-key': running.workspaceKey, 'x-svc-config': slug },
    body: chatBody('bench-r1024', false, 1024),
  };
  await warmUp(target);
  const loop = new ClosedLoop({
    name: 'outage',
    connections: Number(values.connections),
    callsPerConnection: 500,
    target,
    callsPerSecond: Number(values.rate),
  });
  let model = 'bench-r1000';
  let lastOtherMs = 0;
  let lastThisMs = 0;
  loop.onReply = (_status, text) => {
    if (text.includes(`"model":"${model}"`)) lastThisMs = performance.now();
    else lastOtherMs = performance.now();
  };
  loop.start();
  try {
    for (const [index, name] of names.entries()) {
      const outage = outages[name];
      if (!outage) throw new Error(`--only: ${name} is none of ${Object.keys(outages).join(', ')}`);
      await until(() => lastThisMs > 0, { what: 'a first reply under load' });
      const repliedBefore = loop.replied.length;
      const failedBefore = loop.failures.length;
      model = `bench-r${1001 + index}`;
      const result = await outage(stage, model);
      if (!result) {
        say(`${name}: not installed here, left out`);
        continue;
      }
      await pause(1500);
      // A change has arrived everywhere once no reply shows the state before it for a second.
      while (performance.now() - lastOtherMs < 1000 && performance.now() - result.dueFromMs < withinMs) await pause(100);
      const enforcedMs = Math.max(0, lastOtherMs - result.dueFromMs);
      if (lastThisMs < lastOtherMs || enforcedMs > withinMs)
        failures.push(`${name}: the change was not enforced within ${withinMs} ms of the return`);
      const failed = loop.failures.slice(failedBefore);
      if (failed.length > 0)
        failures.push(`${name}: ${failed.length} calls failed, the first: ${failed[0]?.kind} ${failed[0]?.detail}`);
      say(
        `${name}: ${loop.replied.length - repliedBefore} replies, ${failed.length} failed, last old reply ${Math.round(enforcedMs)} ms after the return`,
      );
    }
  } finally {
    await loop.stop();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
