/**
 * Measures the cost of a million API keys: see README.md.
 * node bench/many-keys.ts [--keys 1000000] [--distinct 100000] [--rounds 3] [--seconds 4] [--cache 50000]
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type RunningGateway, startGateway } from '../test/support/product/start-gateway.ts';
import { getBytes, HttpConnection, postBytes } from './load/http-connection.ts';
import { load, preferredTool } from './load/load.ts';
import { fillKeys, type KeyFill } from './many-keys/fill.ts';
import { cores, cpuMicros, end, moveToLoadCore, residentMib, startServer } from './processes.ts';
import { withSpread } from './report/statistics.ts';
import { chatBody } from './scenarios.ts';
import { startPostgres } from './services/postgres.ts';

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000000' },
    distinct: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    cache: { type: 'string', default: '50000' },
  },
});
/** Number of keys that get most of the calls in the hot case, and their share. */
const hotKeys = 10_000;
const hotShare = 0.95;

const folder = mkdtempSync(join(tmpdir(), 'svc-many-keys-'));
const encryptionKey = randomBytes(32);
const clusterKey = randomBytes(32).toString('base64');
const body = chatBody('bench-r1024', false, 1024);
if (preferredTool() !== 'wrk') throw new Error('wrk is not installed');
const postgres = await startPostgres();
if (!postgres) throw new Error('PostgreSQL is not installed');
const upstream = await startServer(cores.load, new URL('./fake-upstream.ts', import.meta.url), []);
let gateway: RunningGateway | null = null;
try {
  gateway = await startGateway({
    prefix: cores.gateway,
    env: {
      DATABASE_URL: postgres.url,
      ENCRYPTION_KEY: encryptionKey.toString('base64'),
      CLUSTER_KEY: clusterKey,
      DOCUMENT_CACHE_ENTRIES: values.cache,
    },
  });
  for (const pid of gateway.pidsOf('control-plane')) moveToLoadCore(pid);
  const provider = await gateway.admin.createUpstream('bench', `http://127.0.0.1:${upstream.port}/v1`);
  const config = await gateway.admin.createConfig({ provider });
  const keys = await fillKeys(postgres.url, encryptionKey, gateway.workspaceId, Number(values.keys));
  console.log(`${keys.count} keys in ${(keys.tookMs / 1000).toFixed(0)} s, ${keys.sizeMib.toFixed(0)} MiB with indexes\n`);
  await measureLookUps(gateway, keys);
  await measureLists(gateway, keys);
  await measureThroughput(gateway, keys, config);
  await measureMemory(gateway, keys, config, Number(values.distinct));
} finally {
  await gateway?.stop();
  await end(upstream.child);
  await postgres.close();
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Requests keys that were never requested before through the internal API, like a gateway. Also measures a call without a
 * look-up, to separate delays of the machine from those of the look-up.
 */
async function measureLookUps(gateway: RunningGateway, keys: KeyFill): Promise<void> {
  console.log('| internal API | calls | p50 ms | p99 ms | most ms |\n| --- | --: | --: | --: | --: |');
  const { hostname, port } = new URL(gateway.controlPlaneUrl);
  const headers = { authorization: `Bearer ${clusterKey}` };
  const timed = async (connection: HttpConnection, path: string, expected: string): Promise<number> => {
    const bytes = getBytes(`${gateway.controlPlaneUrl}/internal/v1/documents/${path}`, headers);
    const startedAtMs = performance.now();
    const result = await connection.call(bytes);
    const tookMs = performance.now() - startedAtMs;
    if (result.kind !== 'reply' || !result.reply.text.includes(expected)) throw new Error(`${path}: ${JSON.stringify(result)}`);
    return tookMs;
  };
  const lookUp = (connection: HttpConnection) => {
    const id = keys.idOf(random(keys.count));
    return timed(connection, `api-key/${id}`, id);
  };
  const nothing = (connection: HttpConnection) => timed(connection, 'nothing/x', '400');
  for (const [name, ask, atOnce, rounds] of [
    ['warm-up, not counted', lookUp, 1, 1500],
    ['nothing looked up', nothing, 1, 3000],
    ['a cold key', lookUp, 1, 3000],
    ['8 cold keys at once', lookUp, 8, 750],
  ] as const) {
    const times = (
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          const connection = new HttpConnection(hostname, Number(port));
          const own: number[] = [];
          for (let i = 0; i < rounds; i++) own.push(await ask(connection));
          connection.close();
          return own;
        }),
      )
    ).flat();
    times.sort((left, right) => left - right);
    const at = (share: number) => (times[Math.floor(times.length * share)] ?? Number.NaN).toFixed(2);
    console.log(`| ${name} | ${times.length} | ${at(0.5)} | ${at(0.99)} | ${(times.at(-1) ?? 0).toFixed(2)} |`);
  }
}

async function measureLists(gateway: RunningGateway, keys: KeyFill): Promise<void> {
  console.log('\n| list of keys, pages of 100 | median ms |\n| --- | --: |');
  const last = Math.floor(keys.count / 100) - 1;
  const { data } = (await gateway.admin.get(`/api-keys?current_page=${last}`)).body as { data: { id: string }[] };
  for (const [name, query] of [
    ['first page', ''],
    [`page ${last}`, `?current_page=${last}`],
    ['100 keys after one of the last', `?after=${data[0]?.id}`],
    ['first page of the active ones', '?status=active'],
  ] as const) {
    const times: number[] = [];
    for (let i = 0; i < 7; i++) {
      const startedAtMs = performance.now();
      const reply = await gateway.admin.get(`/api-keys${query}`);
      if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${JSON.stringify(reply.body)}`);
      times.push(performance.now() - startedAtMs);
    }
    console.log(`| ${name} | ${times.sort((a, b) => a - b)[3]?.toFixed(0)} |`);
  }
}

/** Calls with keys from a small and from the full set, alternately, so that other load on the machine affects both. */
async function measureThroughput(gateway: RunningGateway, keys: KeyFill, config: string): Promise<void> {
  const file = join(folder, 'keys');
  await keys.writeTexts(file, keys.count);
  const drawn = (count: number, hot: number, share: number) => ({
    name: 'x-svc-api-key',
    file,
    width: keys.width,
    count,
    hot,
    share,
  });
  const cases = {
    '10 keys': drawn(10, 1, 0),
    [`${keys.count} keys, ${hotShare * 100} % of the calls with ${hotKeys} of them`]: drawn(keys.count, hotKeys, hotShare),
    [`${hotKeys} of ${keys.count} keys`]: drawn(hotKeys, 1, 0),
    [`${keys.count} keys, all alike`]: drawn(keys.count, 1, 0),
  };
  const headers = { 'content-type': 'application/json', 'x-svc-config': config };
  const target = (name: keyof typeof cases) => ({
    url: `${gateway.baseUrl}/chat/completions`,
    headers,
    body,
    drawn: cases[name] as never,
  });
  const rates = new Map<string, number[]>();
  const costs = new Map<string, number[]>();
  const pids = gateway.pidsOf('gateway');
  const ratios = new Map<string, number[]>();
  let errors = 0;
  await askOnce(gateway, keys, config, 0, hotKeys);
  for (let round = 0; round < Number(values.rounds); round++) {
    let first = Number.NaN;
    for (const name of Object.keys(cases)) {
      const before = cpuMicros(pids);
      const result = await load('wrk', target(name), 64, Number(values.seconds));
      costs.set(name, [...(costs.get(name) ?? []), (cpuMicros(pids) - before) / result.requests]);
      errors += result.errors;
      if (name === '10 keys') first = result.requestsPerSecond;
      rates.set(name, [...(rates.get(name) ?? []), result.requestsPerSecond]);
      ratios.set(name, [...(ratios.get(name) ?? []), result.requestsPerSecond / first]);
    }
  }
  console.log('\n| keys of the calls, c=64 | requests/s | ÷ 10 keys | gateway CPU µs/request |\n| --- | --: | --: | --: |');
  for (const name of Object.keys(cases)) {
    const cells = [rates, ratios, costs].map((series) => withSpread(series.get(name) ?? []));
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
  console.log(`\nReplies other than 200, and calls that broke: ${errors}`);
}

/** Measures the memory of the gateway process while it sees new keys, each once. */
async function measureMemory(gateway: RunningGateway, keys: KeyFill, config: string, distinct: number): Promise<void> {
  console.log('\n| distinct keys so far | resident MiB of the gateway |\n| --: | --: |');
  const pids = gateway.pidsOf('gateway');
  console.log(`| before | ${residentMib(pids).toFixed(0)} |`);
  const failures = new Map<string, number>();
  const step = distinct / 5;
  for (let asked = 0; asked < distinct; asked += step) {
    const found = await askOnce(gateway, keys, config, keys.count - asked - step, keys.count - asked);
    for (const [outcome, count] of found) failures.set(outcome, (failures.get(outcome) ?? 0) + count);
    console.log(`| ${asked + step} | ${residentMib(pids).toFixed(0)} |`);
  }
  const summary = [...failures].map(([outcome, count]) => `${count} × ${outcome}`).join(', ');
  console.log(`\nCalls with another status than 200: ${summary || 'none'}`);
}

/** Makes one call with each of these keys. Returns how many did not end with 200, by result. */
async function askOnce(
  gateway: RunningGateway,
  keys: KeyFill,
  config: string,
  from: number,
  to: number,
): Promise<Map<string, number>> {
  const url = `${gateway.baseUrl}/chat/completions`;
  const failures = new Map<string, number>();
  let next = from;
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      const connection = new HttpConnection('127.0.0.1', gateway.port);
      while (next < to) {
        const headers = { 'content-type': 'application/json', 'x-svc-config': config, 'x-svc-api-key': keys.textOf(next++) };
        const result = await connection.call(postBytes(url, headers, body));
        const outcome = result.kind === 'reply' ? result.reply.text.slice(9, 400) : `${result.kind}: ${result.reason}`;
        if (outcome.startsWith('200')) continue;
        const summary = /^\d+/.exec(outcome)?.[0] ?? outcome;
        if (!failures.has(summary)) console.error(outcome);
        failures.set(summary, (failures.get(summary) ?? 0) + 1);
      }
      connection.close();
    }),
  );
  return failures;
}

function random(below: number): number {
  return Math.floor(Math.random() * below);
}
