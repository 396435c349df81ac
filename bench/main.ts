/** `npm run bench`: see README.md for the method and how to read the tables. */
import { execFileSync } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { startBare } from './contenders/bare.ts';
import type { Arena, Contender, ContenderName } from './contenders/contender.ts';
import { startDirect } from './contenders/direct.ts';
import { startNginx } from './contenders/nginx.ts';
import { startFull, startNone, startOurs } from './contenders/ours.ts';
import { startPeer } from './contenders/peer.ts';
import { preferredTool, type Target } from './load/load.ts';
import { measureAll } from './measure.ts';
import { type BenchOptions, readOptions, usage } from './options.ts';
import { cores, end, findProgram, isPinned, startServer } from './processes.ts';
import { toTables } from './report/tables.ts';
import { writeReadme } from './report/write-readme.ts';
import { listScenarios, type Scenario } from './scenarios.ts';

const starters: Readonly<Record<ContenderName, (arena: Arena) => Promise<Contender | null>>> = {
  direct: startDirect,
  nginx: startNginx,
  bare: startBare,
  none: startNone,
  ours: startOurs,
  full: startFull,
  peer: startPeer,
};

const options = optionsOrExit();
const tool = options.tool ?? preferredTool();
const scenarios = listScenarios(options.bytes).filter((scenario) => options.scenarios.includes(scenario.name));
const say = (line: string) => process.stderr.write(`${line}\n`);
const upstream = await startServer(cores.load, new URL('./fake-upstream.ts', import.meta.url), []);
const arena: Arena = { upstreamOrigin: `http://127.0.0.1:${upstream.port}`, scenarios: listScenarios(options.bytes), say };
const contenders: Contender[] = [];
try {
  if (!isPinned()) say('one core or no taskset: gateways, load and upstream share what there is');
  for (const name of options.contenders) {
    const started = await starters[name](arena);
    if (started) contenders.push(await withWorkingTargets(started));
  }
  const loadBefore = loadavg();
  const measured = await measureAll(contenders, scenarios, options, tool, say);
  const tables = `${conditions(options, loadBefore)}\n\n${toTables(measured, contenders, scenarios)}`;
  process.stdout.write(`${tables}\n`);
  if (options.write) writeReadme(tables);
} finally {
  for (const contender of contenders) await contender.stop();
  await end(upstream.child);
}

/** Leaves out scenarios that a contender does not support, because a benchmark of error replies is meaningless. */
async function withWorkingTargets(contender: Contender): Promise<Contender> {
  const targets: Partial<Record<string, Target>> = {};
  for (const scenario of scenarios) {
    const target = contender.targets[scenario.name];
    if (!target) continue;
    const failure = await failureOf(target, scenario);
    if (failure === null) targets[scenario.name] = target;
    else say(`${contender.name} is left out of ${scenario.name}: ${failure}`);
  }
  return { ...contender, targets };
}

async function failureOf(target: Target, scenario: Scenario): Promise<string | null> {
  let cacheStatus: string | null = null;
  // Called twice, because a cache replies to the second call.
  for (let call = 0; call < 2; call++) {
    const response = await fetch(target.url, { method: 'POST', headers: target.headers, body: target.body });
    const text = await response.text();
    const { least, most } = scenario.replyBytes;
    if (response.status !== 200) return `status ${response.status}: ${text.slice(0, 300)}`;
    if (text.length < least || text.length > most) return `a reply of ${text.length} bytes, not ${least} to ${most}`;
    cacheStatus = response.headers.get('x-svc-cache-status');
  }
  return scenario.name === 'cached' && cacheStatus !== 'HIT' ? `the second call's cache status is ${cacheStatus}` : null;
}

/** Returns the conditions needed to judge the numbers. */
function conditions({ seconds, warmUpSeconds, rounds, bytes }: BenchOptions, before: readonly number[]): string {
  const loads = [before, loadavg()].map((values) => values.map((value) => value.toFixed(1)).join(' '));
  return [
    `${rounds} rounds of ${seconds} s per measurement after ${warmUpSeconds} s of warm-up, medians (smallest–largest); ${availableParallelism()} cores, ${
      isPinned() ? 'gateways on core 0, load and upstream on core 1' : 'not pinned'
    }; bodies of ${bytes} B; load generator ${tool}.`,
    `Node ${process.versions.node}, ${versionOf('nginx', ['-v'])}, ${versionOf('wrk', ['-v'])}. Load average before ${loads[0]}, after ${loads[1]}.`,
  ].join('\n');
}

function versionOf(name: string, args: readonly string[]): string {
  const program = findProgram(name);
  if (!program) return `no ${name}`;
  try {
    // Both print their version on the error stream, one with a failing exit code.
    const output = execFileSync('sh', ['-c', `"$0" "$@" 2>&1 || true`, program, ...args], { encoding: 'utf8' });
    return `${name} ${/\d+(\.\d+)+/.exec(output)?.[0] ?? ''}`.trim();
  } catch {
    return name;
  }
}

function optionsOrExit(): BenchOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}\n`);
    process.exit(2);
  }
}
