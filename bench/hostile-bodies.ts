/**
 * Sends large and hostile bodies to one gateway process while small calls run beside them, and prints how long the small calls waited,
 * how long the event loop of the process was blocked at most, the statuses of the large ones, and the largest resident size of the process. Ends
 * with 1 if a reply is a 500, a small call fails, or the process ends: see README.md.
 *
 *     node bench/hostile-bodies.ts [--rounds 1] [--only text]
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { startGateway } from '../test/support/product/start-gateway.ts';
import { type Case, cases } from './hostile-bodies/cases.ts';
import type { ProbeInput, ProbeResult } from './hostile-bodies/probe.ts';
import { openLoopClock } from './hostile-bodies/read-loop-clock.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '1' }, only: { type: 'string', default: '' } },
});
const upstream = new Worker(new URL('hostile-bodies/upstream.ts', import.meta.url));
const [port] = (await once(upstream, 'message')) as [number];

const loop = await openLoopClock();
const running = await startGateway({ env: { GATEWAY_PROCESSES: '1', ...loop.env } });
const pid = running.pidsOf('gateway')[0] as number;
for (const [slug, type] of [
  ['chat', 'openai'],
  ['claude', 'anthropic'],
  ['gemini', 'google'],
] as const) {
  await running.admin.createUpstream(slug, `http://127.0.0.1:${port}/v1`, { ai_provider_id: type, key: 'sk-x' });
}
const probe = new Worker(new URL('hostile-bodies/probe.ts', import.meta.url), {
  workerData: { origin: running.origin, key: running.workspaceKey, everyMs: 10 } satisfies ProbeInput,
});
let isGood = true;
try {
  await pause(3000);
  console.log(
    '| case | requests at once | statuses | small calls: worst ms | p99 ms | longest block, CPU ms | resident MiB, most |',
  );
  console.log('| --- | --: | --- | --: | --: | --: | --: |');
  console.log(await row('nothing else', 0, () => pause(3000, [])));
  for (const given of cases.filter(({ name }) => name.includes(values.only))) {
    const bytes = given.body();
    for (let round = 0; round < Number(values.rounds); round++) {
      const { name, count } = given;
      console.log(await row(name, count, () => Promise.all(Array.from({ length: count }, () => send(given, bytes)))));
    }
  }
  if (running.pidsOf('gateway')[0] !== pid) throw new Error('the gateway process has ended');
} finally {
  await probe.terminate();
  await upstream.terminate();
  await running.stop();
  await loop.close();
}
process.exitCode = isGood ? 0 : 1;

/** Runs one case and returns its row of the table. */
async function row(name: string, count: number, run: () => Promise<readonly number[]>): Promise<string> {
  // Calls and garbage of the previous case are not part of this one.
  await pause(500);
  await takeProbe();
  await loop.take(pid);
  let residentMiB = 0;
  const watch = setInterval(() => (residentMiB = Math.max(residentMiB, residentOf(pid))), 20);
  const statuses = await run();
  clearInterval(watch);
  const { latenciesMs, statuses: probed } = await takeProbe();
  const { longestMs: loopMs } = await loop.take(pid);
  const sorted = [...latenciesMs].sort((a, b) => a - b);
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  if (counts.has(500) || Object.keys(probed).some((status) => status !== '200')) isGood = false;
  const said = [...counts].map(([status, times]) => `${times} × ${status}`).join(', ') || '–';
  const failed = Object.entries(probed).filter(([status]) => status !== '200');
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  const worst = `${(sorted.at(-1) ?? 0).toFixed(1)}${failed.length > 0 ? ` (${JSON.stringify(Object.fromEntries(failed))})` : ''}`;
  return `| ${name} | ${count} | ${said} | ${worst} | ${p99.toFixed(1)} | ${loopMs.toFixed(0)} | ${residentMiB} |`;
}

async function takeProbe(): Promise<ProbeResult> {
  const replied = once(probe, 'message');
  probe.postMessage('take');
  return ((await replied) as [ProbeResult])[0];
}

/** Resolves with the status of one request; 0 if its connection breaks before the reply. */
function send({ path }: Case, body: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const headers = { 'x-svc-api-key': running.workspaceKey, 'content-type': 'application/json', 'content-length': body.length };
    const sent = request(`${running.origin}/v1${path}`, { method: 'POST', agent: false, headers }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', () => resolve(0)).end(body);
  });
}

function residentOf(process: number): number {
  const status = readFileSync(`/proc/${process}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
