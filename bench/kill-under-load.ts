/**
 * Full load while gateway processes are killed with SIGKILL at random. Ends with 1 when anything was lost that was not in flight on a
 * killed process: see README.md.
 *
 *     node bench/kill-under-load.ts [--seconds 30] [--processes 2] [--connections 64] [--kill-every-ms 1000]
 *         [--rate 0] [--within 1000]
 *
 * `--rate`: calls per second at the most, 0 = as many as possible. `--within`: milliseconds until a killed process is replaced.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { isAlive } from '../test/support/processes/process-tree.ts';
import { newProductDatabase } from '../test/support/product/product-database.ts';
import { type RunningGateway, startGateway } from '../test/support/product/start-gateway.ts';
import { until } from '../test/support/until.ts';
import { type CallFailure, ClosedLoop } from './load/closed-loop.ts';
import { connectionsOf, isListening } from './load/connections-of.ts';
import { warmUp } from './load/warm-up.ts';
import { end, startServer } from './processes.ts';
import { chatBody } from './scenarios.ts';
import { outcomesByTraceId, untilShipped } from './stored-records.ts';

interface Kill {
  readonly atMs: number;
  /** Connections of the killed process. Each had at most one call in flight. */
  readonly connections: number;
  /** Time at which the system had removed the process. Until then its port accepted connections. */
  readonly goneAtMs: number;
  /** Time until there was a new process. */
  readonly replacedMs: number;
  /** Time until that process listened. */
  readonly servingMs: number;
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    processes: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
    rate: { type: 'string', default: '0' },
    within: { type: 'string', default: '1000' },
    'kill-every-ms': { type: 'string', default: '1000' },
  },
});
const processes = Number(values.processes);
const problems: string[] = [];
const dataDir = mkdtempSync(join(tmpdir(), 'svc-kill-'));
const database = await newProductDatabase(dataDir);
const upstream = await startServer([], new URL('./fake-upstream.ts', import.meta.url), []);
let gateway: RunningGateway | null = null;
try {
  gateway = await startGateway({ dataDir, env: { ...database.env, GATEWAY_PROCESSES: String(processes) } });
  const running = gateway;
  const provider = await running.admin.createUpstream('bench', `http://127.0.0.1:${upstream.port}/v1`);
  const config = await running.admin.createConfig({ provider });
  await until(() => running.pidsOf('gateway').length === processes, { what: `${processes} gateway processes` });
  const target = {
    url: `${running.baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', 'x-svc-api-key': running.workspaceKey, 'x-svc-config': config },
    body: chatBody('bench-r1024', false, 1024),
  };
  await warmUp(target);
  const loop = new ClosedLoop({
    name: 'kill',
    connections: Number(values.connections),
    callsPerConnection: 200,
    target,
    ...(Number(values.rate) > 0 ? { callsPerSecond: Number(values.rate) } : {}),
  });
  const startedAtMs = performance.now();
  loop.start();
  const kills = await killAtRandom(running, Number(values.seconds) * 1000, Number(values['kill-every-ms']));
  await loop.stop();
  const seconds = (performance.now() - startedAtMs) / 1000;

  judgeFailures(loop.failures, kills);
  await judgeRecords(running, loop);
  const allowed = kills.reduce((sum, kill) => sum + kill.connections, 0);
  say(`${loop.replied.length} replies in ${seconds.toFixed(1)} s (${Math.round(loop.replied.length / seconds)}/s)`);
  const inMs = (times: readonly number[]) => times.map((time) => Math.round(time)).join(', ');
  say(`${kills.length} kills, replaced after ${inMs(kills.map((kill) => kill.replacedMs))} ms`);
  say(`serving again after ${inMs(kills.map((kill) => kill.servingMs))} ms`);
  say(
    `${loop.failures.length} calls failed; the killed processes held ${allowed} connections; ${loop.notSent} calls were sent again`,
  );
} catch (error) {
  problems.push(error instanceof Error ? error.message : String(error));
} finally {
  await gateway?.kill();
  await end(upstream.child);
  await database.drop();
  rmSync(dataDir, { recursive: true, force: true });
}
for (const failure of problems) say(`FAULT ${failure}`);
process.exit(problems.length === 0 ? 0 : 1);

/** Kills one of the serving processes and waits until all serve again, repeatedly. There is always another process left. */
async function killAtRandom(running: RunningGateway, forMs: number, everyMs: number): Promise<Kill[]> {
  const kills: Kill[] = [];
  const serving = () => running.pidsOf('gateway').filter((pid) => isListening(pid, running.port));
  const endMs = performance.now() + forMs;
  // An initial period without a kill, so that every process has connections.
  await pause(Math.min(everyMs, forMs / 3));
  while (performance.now() < endMs) {
    const pids = serving();
    const victim = pids[Math.floor(Math.random() * pids.length)] as number;
    const connections = connectionsOf(victim, running.port);
    const atMs = performance.now();
    process.kill(victim, 'SIGKILL');
    const elapsed = () => performance.now() - atMs;
    const goneAtMs = await until(() => !isAlive(victim) && performance.now(), { what: 'the end of the killed process' });
    const replacedMs = await until(() => running.pidsOf('gateway').length >= processes && elapsed(), { what: 'a new process' });
    const servingMs = await until(() => serving().length >= processes && elapsed(), { what: 'a new process that listens' });
    kills.push({ atMs, connections, goneAtMs, replacedMs, servingMs });
    await pause(Math.max(0, Math.min(everyMs * (0.5 + Math.random()), endMs - performance.now())));
  }
  return kills;
}

/** Only calls in flight on a killed process may fail, each by a closed connection, and no more than it had connections. */
function judgeFailures(failures: readonly CallFailure[], kills: readonly Kill[]): void {
  for (const failure of failures.filter((one) => one.kind !== 'cut').slice(0, 3)) {
    problems.push(`a call failed that was cut by no kill: ${failure.kind} ${failure.detail}`);
  }
  const cuts = failures.filter((one) => one.kind === 'cut');
  const before = cuts.filter((cut) => cut.atMs < (kills[0]?.atMs ?? Number.POSITIVE_INFINITY));
  if (before.length > 0) problems.push(`${before.length} calls were cut before the first kill`);
  kills.forEach((kill, index) => {
    const nextMs = kills[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    const mine = cuts.filter((cut) => cut.atMs >= kill.atMs && cut.atMs < nextMs);
    const held = mine.filter((cut) => cut.connectedAtMs < kill.atMs).length;
    // A client that reconnects at once may still reach the port of the process that is being removed.
    const astray = mine.filter((cut) => cut.connectedAtMs > kill.goneAtMs).length;
    if (held > kill.connections)
      problems.push(`${held} calls were cut by a kill of a process with ${kill.connections} connections`);
    if (astray > 0) problems.push(`${astray} calls were cut on connections made after the killed process was gone`);
    if (kill.replacedMs > Number(values.within))
      problems.push(`a killed process was replaced only after ${Math.round(kill.replacedMs)} ms`);
  });
}

/** Every received reply must have exactly one record, and no call may have two. */
async function judgeRecords(running: RunningGateway, loop: ClosedLoop): Promise<void> {
  await untilShipped(dataDir, 300_000);
  await running.stop();
  const stored = await outcomesByTraceId({ databaseUrl: database.env.DATABASE_URL ?? null, dataDir }, 'kill-');
  const missing = loop.replied.filter((traceId) => !stored.has(traceId));
  const double = [...stored].filter(([, outcomes]) => outcomes.length > 1);
  if (missing.length > 0)
    problems.push(`${missing.length} of ${loop.replied.length} replies have no record, such as ${missing[0]}`);
  if (double.length > 0) problems.push(`${double.length} calls have more than one record, such as ${double[0]?.[0]}`);
  const extra = stored.size - loop.replied.length;
  if (extra > loop.failures.length)
    problems.push(`${extra} records beyond the replies, with only ${loop.failures.length} failed calls`);
  say(`${stored.size} records stored for ${loop.replied.length} replies and ${loop.failures.length} failed calls`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
