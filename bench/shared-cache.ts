/**
 * Latency of cache hits from the memory of a gateway process, from the store that all gateways share, and of semantic hits.
 *
 *   node bench/shared-cache.ts [--entries 1000] [--postgres postgresql://…] [--only store] [--realtime]
 *
 * One gateway process and one client that sends one request after another. The memory of the process holds a quarter of the entries, which are
 * asked for in turn, so that each reply comes from the store. Without --postgres the control plane uses its embedded database. --realtime gives
 * the measured processes real-time priority while they are measured (needs root), so that other work on the machine does not add to the times.
 * The second line of a phase has the same times without the waits of these processes for a processor, as the scheduler counts them. The third
 * has the instructions of the processes that serve it per reply, if the machine has `perf`. The bare proxy (`bare-proxy.ts`) is called by the same
 * client with the same bodies right before and after the phase of the store: its p99 shows what the machine does to any proxy at that time.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { newReadyDatabase } from '../test/admin/support/test-database.ts';
import { embeds } from '../test/support/fakes/fake-embeddings.ts';
import { startGatewayWithUpstream } from '../test/support/product/gateway-with-upstream.ts';
import { countInstructions } from './count-instructions.ts';
import { end, startServer } from './processes.ts';

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000' },
    postgres: { type: 'string' },
    only: { type: 'string', default: '' },
    realtime: { type: 'boolean', default: false },
  },
});
const entries = Number(values.entries);
/** Four times the smallest `CACHE_MEMORY_MAX`, by the size of a reply and its entry. */
const replyBytes = Math.ceil((4 * 1_048_576) / entries);

if (values.postgres) process.env.TEST_DATABASE_URL = values.postgres;
const database = values.postgres ? await newReadyDatabase() : null;
const gateway = await startGatewayWithUpstream({
  env: {
    ...{ GATEWAY_PROCESSES: '1', CACHE_MEMORY_MAX: '1048576', CACHE_STORE_TIMEOUT: '5000', SEMANTIC_CACHE_TIMEOUT: '5000' },
    ...{ SEMANTIC_CACHE_EMBEDDING_PROVIDER: 'oai', ...(database ? { DATABASE_URL: database.url } : {}) },
  },
});
const proxy = await startServer([], new URL('./bare-proxy.ts', import.meta.url), [
  `http://${gateway.upstream.host}:${gateway.upstream.port}`,
]);
/** Names and ids of the processes whose instructions a phase counts. */
type Processes = readonly (readonly [name: string, pid: number])[];
const proxyProcess: Processes = [['bare proxy', proxy.child.pid as number]];
const productProcesses: Processes = [
  ...gateway.pidsOf('gateway').map((pid) => ['gateway', pid] as const),
  ...gateway.pidsOf('control-plane').map((pid) => ['control plane', pid] as const),
];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
try {
  gateway.upstream.on('/v1/embeddings', embeds);
  gateway.upstream.on('/v1/chat/completions', ({ response }) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices: [], filler: 'x'.repeat(replyBytes) }));
  });
  const simple = { provider: '@oai', cache: { mode: 'simple' } };
  const semantic = { provider: '@oai', cache: { mode: 'semantic' } };
  for (let i = 0; i < entries; i++) await ask(simple, `entry ${i}`);
  await report('from memory', 'HIT', () => ask(simple, `entry ${entries - 1}`));
  await report('bare proxy, before', 'undefined', (i) => ask(simple, `entry ${i}`, proxy.port), proxyProcess);
  await report('from the shared store', 'HIT', (i) => ask(simple, `entry ${i}`));
  await report('bare proxy, after', 'undefined', (i) => ask(simple, `entry ${i}`, proxy.port), proxyProcess);
  if (values.only !== 'store') {
    for (let i = 0; i < entries; i++) await ask(semantic, `what is topic ${word(i)}`);
    await report('semantic, with the call for the embedding', 'SEMANTIC HIT', (i) =>
      ask(semantic, `please tell me what is topic ${word(i)}`),
    );
    await report('miss, with the call to the provider', 'MISS', (i) => ask(simple, `new ${i}`));
  }
} finally {
  agent.destroy();
  await end(proxy.child);
  await gateway.close();
  await database?.drop();
}

/** A word without digits, which would be a fact of the text. */
function word(i: number): string {
  return [...String(i)].map((digit) => 'uvwxyzabcd'[Number(digit)]).join('');
}

async function report(
  title: string,
  status: string,
  call: (i: number) => Promise<{ status: string; ms: number }>,
  processes: Processes = productProcesses,
): Promise<void> {
  const times: number[] = [];
  const withoutWaits: number[] = [];
  let others = 0;
  setPriority('-r', 1);
  const pids = measuredPids();
  const measured = async (): Promise<void> => {
    for (let i = 0; i < entries; i++) {
      const waitedMs = processorWaitMs(pids);
      const reply = await call(i);
      if (reply.status !== status) {
        others++;
        continue;
      }
      times.push(reply.ms);
      withoutWaits.push(reply.ms - (processorWaitMs(pids) - waitedMs));
    }
  };
  let counts: Awaited<ReturnType<typeof countInstructions>>['counts'] = null;
  try {
    ({ counts } = await countInstructions(
      processes.map(([, pid]) => pid),
      measured,
    ));
  } finally {
    setPriority('-o', 0);
  }
  const load = loadavg()[0]?.toFixed(1);
  console.log(`${title}: ${times.length} replies, ${shares(times)}; ${others} with another cache status; load average ${load}`);
  console.log(`  without waits for a processor: ${shares(withoutWaits)}`);
  if (counts === null) return;
  const perReply = counts.map(
    (each, at) => `${processes[at]?.[0]} ${thousands(each.instructions)} (cycles ${thousands(each.cycles)})`,
  );
  console.log(`  thousand instructions per reply: ${perReply.join(', ')}`);
}

function thousands(count: number): string {
  return (count / entries / 1000).toFixed(0);
}

function shares(times: number[]): string {
  times.sort((left, right) => left - right);
  const at = (share: number): string =>
    (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN).toFixed(2);
  return `p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`;
}

/** Returns how long the main threads of these processes have waited for a processor while they could run, in total. */
function processorWaitMs(pids: readonly number[]): number {
  let totalMs = 0;
  for (const pid of pids) totalMs += Number(ofProcess(pid, 'schedstat').split(' ')[1] ?? 0) / 1_000_000;
  return totalMs;
}

/** The client, the gateway, the control plane and the connections to its database. */
function measuredPids(): number[] {
  return [
    process.pid,
    proxy.child.pid as number,
    ...gateway.pidsOf('gateway'),
    ...gateway.pidsOf('control-plane'),
    ...backends(),
  ];
}

/** Sets the scheduling of the measured processes, with all their threads. */
function setPriority(policy: '-r' | '-o', priority: number): void {
  if (!values.realtime) return;
  for (const pid of measuredPids()) execFileSync('chrt', ['-a', policy, '-p', String(priority), String(pid)]);
}

/** Returns the processes of PostgreSQL that serve the control plane, by the title that they give themselves. It runs on this machine. */
function backends(): number[] {
  if (!database) return [];
  const title = ` ${new URL(database.url).pathname.slice(1)} `;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && ofProcess(name, 'cmdline').includes(title))
    .map(Number);
}

/** Returns a file of a process below `/proc`. Empty if the process has ended. */
function ofProcess(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function ask(
  config: object,
  content: string,
  port = new URL(gateway.origin).port as string | number,
): Promise<{ status: string; ms: number }> {
  const { hostname } = new URL(gateway.origin);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-svc-api-key': gateway.workspaceKey,
    'x-svc-config': JSON.stringify(config),
  };
  const startedAtMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, agent, method: 'POST', path: '/v1/chat/completions', headers }, (response) => {
      response.resume();
      response.on('end', () =>
        resolve({ status: String(response.headers['x-svc-cache-status']), ms: performance.now() - startedAtMs }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
