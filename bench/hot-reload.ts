/**
 * How long a change takes from the admin's reply to the first reply of each gateway that shows it, and whether changes survive kills of
 * everything around them: see README.md.
 *
 *     node bench/hot-reload.ts [--changes 300] [--gateways 4] [--bus nats|poll]     times, one table
 *     node bench/hot-reload.ts --label [--gateways 3]                                the same for a label that moves to the next version of a prompt
 *     node bench/hot-reload.ts --chaos [--changes 1000] [--seed 1]                   kills meanwhile; ends with 1 when the history is wrong
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { AdminClient } from '../test/support/clients/admin-client.ts';
import type { RunningGateway } from '../test/support/product/start-gateway.ts';
import { until } from '../test/support/until.ts';
import { causeChaos } from './hot-reload/chaos.ts';
import { checkHistory, type Write } from './hot-reload/history-checker.ts';
import { type Cluster, startCluster } from './hot-reload/instances.ts';
import { Watcher } from './hot-reload/watcher.ts';
import { warmUp } from './load/warm-up.ts';
import { end, startServer } from './processes.ts';
import { shown } from './report/statistics.ts';
import { chatBody } from './scenarios.ts';
import { startNats } from './services/nats.ts';
import { startPostgres } from './services/postgres.ts';

const { values } = parseArgs({
  options: {
    changes: { type: 'string' },
    gateways: { type: 'string', default: '4' },
    bus: { type: 'string', default: 'nats' },
    label: { type: 'boolean', default: false },
    chaos: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
/** Versions shown differ from the newest by far less than this. */
const wrap = 1000;
const count = Number(values.changes ?? (values.chaos ? 1000 : 300));
const upstream = await startServer([], new URL('./fake-upstream.ts', import.meta.url), []);
const nats = values.bus === 'nats' ? await startNats() : null;
const postgres = await startPostgres();
let cluster: Cluster | null = null;
let failures: string[] = [];
try {
  if (values.bus === 'nats' && !nats) throw new Error('nats-server is not installed');
  if (!postgres) throw new Error('PostgreSQL is not installed');
  cluster = await startCluster(Number(values.gateways), {
    DATABASE_URL: postgres.url,
    ...(nats ? { NATS_URL: nats.url } : {}),
  });
  if (values.chaos) failures = await survive(cluster);
  else await measure(cluster);
} catch (error) {
  failures = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
} finally {
  await cluster?.close();
  await nats?.close();
  await postgres?.close();
  await end(upstream.child);
}
for (const failure of failures.slice(0, 20)) say(`FAULT ${failure}`);
if (failures.length > 20) say(`and ${failures.length - 20} more`);
process.exit(failures.length === 0 ? 0 : 1);

/** A change, and the request whose reply shows its version by the model: `bench-r<1000 + version % 1000>`. */
interface Changing {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Does what precedes the change. It is not part of the measured time. */
  prepare?(version: number): Promise<void>;
  /** Returns the status of the admin's reply. */
  change(version: number): Promise<number>;
}

/** Numbers are reply sizes of the upstream, so they must stay small: the version wraps, and neighbours are far apart. */
function modelOf(version: number): string {
  return `bench-r${1000 + (version % wrap)}`;
}

async function changingConfig(admin: AdminClient, provider: string): Promise<Changing> {
  const configFor = (version: number) => ({ provider, override_params: { model: modelOf(version) } });
  const slug = await admin.createConfig(configFor(0));
  return {
    path: '/v1/chat/completions',
    headers: { 'x-svc-config': slug },
    body: chatBody('bench-r1024', false, 256),
    change: async (version) => (await admin.put(`/configs/${slug}`, { config: configFor(version) })).status,
  };
}

/** A label that moves from each version of a prompt to the next. */
async function changingLabel({ admin, workspaceId }: RunningGateway, provider: string): Promise<Changing> {
  const workspace = { workspace_id: workspaceId };
  const { body } = await admin.post('/labels', { ...workspace, name: 'bench' });
  const string = '[{"role":"user","content":"Hello {{name}}"}]';
  const slug = await admin.createPrompt({ string, model: modelOf(0), virtual_key: provider.replace('@', '') });
  const labelled = async (version: number) =>
    (await admin.put(`/prompts/${slug}/versions/${version + 1}`, { ...workspace, label_id: body.id })).status;
  if ((await labelled(0)) !== 200) throw new Error('the label was not accepted');
  return {
    path: `/v1/prompts/${slug}@bench/completions`,
    headers: {},
    body: '{"variables":{"name":"Ann"}}',
    async prepare(version) {
      const { status } = await admin.put(`/prompts/${slug}`, { ...workspace, patch: true, model: modelOf(version) });
      if (status !== 200) throw new Error(`version ${version} was not accepted`);
    },
    change: labelled,
  };
}

async function register({ first, instances }: Cluster) {
  const provider = await first.admin.createUpstream('bench', `http://127.0.0.1:${upstream.port}/v1`);
  const changing = values.label ? await changingLabel(first, provider) : await changingConfig(first.admin, provider);
  let newest = 0;
  const watchers = new Map<string, Watcher>();
  for (const { name, origin } of instances) {
    const target = {
      url: `${origin}${changing.path}`,
      headers: { 'content-type': 'application/json', 'x-svc-api-key': first.workspaceKey, ...changing.headers },
      body: changing.body,
    };
    await warmUp(target);
    const versionOf = (reply: { status: number; text: string }) => {
      const found = reply.status === 200 ? /"model":"bench-r(\d+)"/.exec(reply.text)?.[1] : undefined;
      return found === undefined ? null : unwrap(Number(found) - 1000, newest);
    };
    watchers.set(name, new Watcher({ ...target, everyMs: 1, versionOf }));
  }
  return {
    watchers,
    async write(version: number): Promise<Write> {
      newest = version;
      await changing.prepare?.(version);
      const startedMs = performance.now();
      const status = await changing.change(version).catch(() => 0);
      const outcome = status === 200 ? 'acknowledged' : status >= 400 && status < 500 ? 'refused' : 'unknown';
      return { version, startedMs, repliedMs: performance.now(), outcome };
    },
  };
}

async function measure(running: Cluster): Promise<void> {
  const { watchers, write } = await register(running);
  const times = new Map([...watchers.keys()].map((name) => [name, [] as number[]]));
  for (let version = 1; version <= count; version++) {
    const shownBy = [...watchers].map(async ([name, watcher]) => ({ name, read: await watcher.first(version) }));
    const { outcome, repliedMs } = await write(version);
    if (outcome !== 'acknowledged') throw new Error(`change ${version} was not accepted`);
    for (const { name, read } of await Promise.all(shownBy)) {
      times.get(name)?.push(Math.max(0, read.receivedMs - repliedMs));
    }
    // An interval that is not a multiple of other intervals.
    await pause(5 + Math.random() * 20);
  }
  for (const watcher of watchers.values()) await watcher.stop();
  say(
    `${count} changes of a ${values.label ? 'label' : 'saved config'}, ${watchers.size} gateways over ${values.bus}, PostgreSQL; from the admin's reply to`,
  );
  say('the first reply that shows the change, milliseconds (0: shown before the admin had the reply)\n');
  say('| instance | p50 | p99 | max |\n| --- | --: | --: | --: |');
  const all = [...times.values()].flat();
  for (const [name, list] of [...times, ['all', all] as const]) {
    say(`| ${name} | ${shown(quantile(list, 0.5))} | ${shown(quantile(list, 0.99))} | ${shown(Math.max(...list))} |`);
  }
}

async function survive(running: Cluster): Promise<string[]> {
  const { watchers, write } = await register(running);
  const chaos = causeChaos({ seed: Number(values.seed), nats, postgres, instances: running.instances });
  const writes: Write[] = [{ version: 0, startedMs: 0, repliedMs: 0, outcome: 'acknowledged' }];
  let acknowledged = 0;
  for (let version = 1; acknowledged < count; version++) {
    const made = await write(version);
    writes.push(made);
    if (made.outcome === 'acknowledged') acknowledged++;
    await pause(made.outcome === 'acknowledged' ? 15 : 50);
  }
  const kills = await chaos.stop();
  const last = (writes.findLast((made) => made.outcome === 'acknowledged') as Write).version;
  const converged = await until(() => [...watchers.values()].every((watcher) => (watcher.reads.at(-1)?.version ?? -1) >= last), {
    what: 'all gateways showing the last change',
    deadlineMs: 15_000,
  }).catch((error: Error) => error.message);
  for (const watcher of watchers.values()) await watcher.stop();
  const reads = new Map([...watchers].map(([name, watcher]) => [name, watcher.reads]));
  say(`${acknowledged} changes acknowledged, ${writes.length - 1 - acknowledged} not, ${kills} kills`);
  for (const [name, watcher] of watchers) {
    const failed = [...watcher.failures].map(([status, times]) => `${times} × ${status || 'cut'}`).join(', ') || 'none';
    say(`${name}: ${watcher.reads.length} replies, failed: ${failed}`);
  }
  return [...(typeof converged === 'string' ? [converged] : []), ...checkHistory({ writes, reads })];
}

function unwrap(shownValue: number, newest: number): number {
  const version = newest - (newest % wrap) + shownValue;
  return version > newest ? version - wrap : version;
}

function quantile(list: readonly number[], q: number): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
