/**
 * Sends large and hostile bodies to one gateway process while small calls run beside them, and prints how long the small calls waited,
 * the statuses of the large ones, and the largest resident size of the process. Ends with 1 if a reply is a 500, a small call fails,
 * or the process ends: see README.md.
 *
 *     node bench/hostile-bodies.ts [--rounds 1]
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { startGateway } from '../test/support/start-gateway.ts';
import type { ProbeInput, ProbeResult } from './hostile-bodies/probe.ts';

interface Case {
  readonly name: string;
  /** Requests at the same time. */
  readonly count: number;
  /** The body of each request. */
  readonly body: () => Buffer;
}

const mega = 1_000_000;
const chat = (rest: string) => Buffer.from(`{"model":"@mock/echo","messages":[{"role":"user","content":"hello"}],${rest}}`);
const cases: readonly Case[] = [
  { name: '30 MB of `{},`', count: 22, body: () => chat(`"x":[${'{},'.repeat(10 * mega)}{}]`) },
  {
    name: '12 MB with 10^6 keys',
    count: 4,
    body: () => chat(`"x":{${Array.from({ length: mega }, (_, i) => `"k${i}":1`).join(',')}}`),
  },
  { name: '15 MB of `[`', count: 4, body: () => Buffer.from('['.repeat(15 * mega)) },
  { name: '1 MB of numbers, just below the limit', count: 8, body: () => chat(`"x":[${'1,'.repeat(480_000)}1]`) },
  { name: '30 MB in one string', count: 8, body: () => chat(`"x":"${'QUJD'.repeat(7.5 * mega)}"`) },
  { name: '30 MB in one string, cut short', count: 4, body: () => chat(`"x":"${'QUJD'.repeat(7.5 * mega)}`).subarray(0, -1) },
  {
    name: 'a stream event without end from the provider',
    count: 6,
    body: () => Buffer.from('{"model":"@endless/m","stream":true,"messages":[{"role":"user","content":"hello"}]}'),
  },
];

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '1' } } });
const endless = createServer((incoming, response) => {
  incoming.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = Buffer.alloc(64 * 1024, 'a');
  const write = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', write);
  response.write('data: ');
  write();
}).listen(0, '127.0.0.1');
await once(endless, 'listening');

const running = await startGateway({ env: { GATEWAY_PROCESSES: '1' } });
const pid = running.pidsOf('gateway')[0] as number;
await running.admin.createUpstream('endless', `http://127.0.0.1:${(endless.address() as AddressInfo).port}/v1`, { key: 'sk-x' });
const probe = new Worker(new URL('hostile-bodies/probe.ts', import.meta.url), {
  workerData: { origin: running.origin, key: running.workspaceKey, everyMs: 10 } satisfies ProbeInput,
});
let isGood = true;
try {
  await takeProbe();
  console.log('| case | requests at once | statuses | small calls: worst ms | p99 ms | resident MiB, most |');
  console.log('| --- | --: | --- | --: | --: | --: |');
  console.log(await row('nothing else', 0, () => pause(2000, [])));
  for (const { name, count, body } of cases) {
    const bytes = body();
    for (let round = 0; round < Number(values.rounds); round++) {
      console.log(await row(name, count, () => Promise.all(Array.from({ length: count }, () => send(bytes)))));
    }
  }
  if (running.pidsOf('gateway')[0] !== pid) throw new Error('the gateway process has ended');
} finally {
  await probe.terminate();
  endless.closeAllConnections();
  endless.close();
  await running.stop();
}
process.exitCode = isGood ? 0 : 1;

/** Runs one case and returns its row of the table. */
async function row(name: string, count: number, run: () => Promise<readonly number[]>): Promise<string> {
  await takeProbe();
  let residentMiB = 0;
  const watch = setInterval(() => (residentMiB = Math.max(residentMiB, residentOf(pid))), 20);
  const statuses = await run();
  clearInterval(watch);
  const { latenciesMs, statuses: probed } = await takeProbe();
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  if (counts.has(500) || Object.keys(probed).some((status) => status !== '200')) isGood = false;
  const said = [...counts].map(([status, times]) => `${times} × ${status}`).join(', ') || '–';
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  return `| ${name} | ${count} | ${said} | ${(sorted.at(-1) ?? 0).toFixed(1)} | ${p99.toFixed(1)} | ${residentMiB} |`;
}

async function takeProbe(): Promise<ProbeResult> {
  const answered = once(probe, 'message');
  probe.postMessage('take');
  return ((await answered) as [ProbeResult])[0];
}

/** Resolves with the status of one request; 0 if its connection breaks before the reply. */
function send(body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'x-svc-api-key': running.workspaceKey, 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(`${running.origin}/v1/chat/completions`, { method: 'POST', agent: false, headers }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', () => resolve(0)).end(body);
  });
}

function residentOf(process: number): number {
  const status = readFileSync(`/proc/${process}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
