import { setTimeout } from 'node:timers/promises';
import type { Contender } from './contenders/contender.ts';
import { countInstructions } from './count-instructions.ts';
import { measureStreams } from './load/first-token.ts';
import { type LoadTool, load } from './load/load.ts';
import type { BenchOptions } from './options.ts';
import { cpuMicros, residentMib } from './processes.ts';
import { chatBody, type Scenario } from './scenarios.ts';

export interface LoadSeries {
  readonly requestsPerSecond: number[];
  readonly p50Micros: number[];
  readonly p99Micros: number[];
  /** Processor time per request of the contender's own processes. NaN if there are none. */
  readonly cpuMicros: number[];
  /** Instructions per request of the same processes. NaN if the machine does not count them. */
  readonly instructions: number[];
  errors: number;
}

export interface StreamSeries {
  readonly streams: number;
  readonly mode: 'burst' | 'steady';
  readonly firstP50: number[];
  readonly firstP99: number[];
  readonly frameP50: number[];
  readonly frameP99: number[];
  framesLost: number;
  failures: number;
}

/** All measurements, with one value per round in each list. */
export interface Measurements {
  /** By `<contender>/<scenario>`. */
  readonly loads: Map<string, LoadSeries>;
  /** At one connection, plain, by contender. */
  readonly latencies: Map<string, { readonly p50Micros: number[]; readonly p99Micros: number[] }>;
  /** By `<contender>/<streams>/<mode>`. */
  readonly streams: Map<string, StreamSeries>;
  readonly memory: Map<string, { idleMib: number; afterMib: number; restMib: number | null }>;
}

/** Number of connections at which processor time per request is measured: enough to keep the gateway busy, too few to queue. */
const cpuConnections = 8;
const rateConnections = 64;
const streamFrames = 64;
const streamCadenceMs = 20;

/**
 * Measures all contenders in turn, round after round, so that other load on the machine affects all of them. The order rotates by
 * one each round.
 */
export async function measureAll(
  contenders: readonly Contender[],
  scenarios: readonly Scenario[],
  options: BenchOptions,
  tool: LoadTool,
  say: (line: string) => void,
): Promise<Measurements> {
  const measured: Measurements = { loads: new Map(), latencies: new Map(), streams: new Map(), memory: new Map() };
  for (const contender of contenders) {
    const pids = contender.pids();
    if (pids.length > 0) measured.memory.set(contender.name, { idleMib: residentMib(pids), afterMib: Number.NaN, restMib: null });
  }
  for (const scenario of options.warmUpSeconds > 0 ? scenarios : []) {
    for (const { targets } of contenders) {
      const target = targets[scenario.name];
      if (target) await load(tool, target, cpuConnections, options.warmUpSeconds);
    }
  }
  for (let round = 0; round < options.rounds; round++) {
    const turn = contenders.map((_, index) => contenders[(index + round) % contenders.length] as Contender);
    for (const scenario of scenarios) {
      for (const contender of turn) await measureLoad(measured, contender, scenario, options, tool, round, say);
    }
    for (const contender of turn) await measureLatency(measured, contender, options, tool);
    for (const streams of options.streams) {
      for (const contender of turn) {
        await measureStreaming(measured, contender, streams, 'steady', say);
        await measureStreaming(measured, contender, streams, 'burst', say);
      }
    }
  }
  for (const contender of contenders) {
    const entry = measured.memory.get(contender.name);
    if (entry) entry.afterMib = residentMib(contender.pids());
  }
  if (options.restSeconds > 0) {
    await setTimeout(options.restSeconds * 1000);
    for (const contender of contenders) {
      const entry = measured.memory.get(contender.name);
      if (entry) entry.restMib = residentMib(contender.pids());
    }
  }
  return measured;
}

async function measureLoad(
  measured: Measurements,
  contender: Contender,
  scenario: Scenario,
  options: BenchOptions,
  tool: LoadTool,
  round: number,
  say: (line: string) => void,
): Promise<void> {
  const target = contender.targets[scenario.name];
  if (!target) return;
  // The first round runs with cold code and a cold heap.
  await load(tool, target, rateConnections, round === 0 ? Math.max(1, Math.ceil(options.seconds / 2)) : 1);
  const pids = contender.pids();
  const before = cpuMicros(pids);
  const { result: atCpu, counts } = await countInstructions(pids, () => load(tool, target, cpuConnections, options.seconds));
  const used = cpuMicros(pids) - before;
  const atRate = await load(tool, target, rateConnections, options.seconds);
  const series = seriesOf(measured.loads, `${contender.name}/${scenario.name}`, () => ({
    requestsPerSecond: [],
    p50Micros: [],
    p99Micros: [],
    cpuMicros: [],
    instructions: [],
    errors: 0,
  }));
  const perRequest = pids.length > 0 ? used / atCpu.requests : Number.NaN;
  series.requestsPerSecond.push(atRate.requestsPerSecond);
  series.p50Micros.push(atRate.p50Micros);
  series.p99Micros.push(atRate.p99Micros);
  series.cpuMicros.push(perRequest);
  const instructions = counts?.length ? counts.reduce((sum, each) => sum + each.instructions, 0) : Number.NaN;
  series.instructions.push(instructions / atCpu.requests);
  series.errors += atCpu.errors + atRate.errors;
  const cpu = pids.length > 0 ? `, ${perRequest.toFixed(1)} µs CPU` : '';
  const errors = atCpu.errors + atRate.errors > 0 ? `, ${atCpu.errors + atRate.errors} errors` : '';
  say(
    `round ${round + 1} ${scenario.name.padEnd(12)} ${contender.name.padEnd(6)} ${Math.round(atRate.requestsPerSecond)}/s${cpu}${errors}`,
  );
}

async function measureLatency(
  measured: Measurements,
  contender: Contender,
  options: BenchOptions,
  tool: LoadTool,
): Promise<void> {
  const target = contender.targets.plain;
  if (!target) return;
  const result = await load(tool, target, 1, Math.max(1, Math.ceil(options.seconds / 2)));
  const series = seriesOf(measured.latencies, contender.name, () => ({ p50Micros: [], p99Micros: [] }));
  series.p50Micros.push(result.p50Micros);
  series.p99Micros.push(result.p99Micros);
}

async function measureStreaming(
  measured: Measurements,
  contender: Contender,
  streams: number,
  mode: 'burst' | 'steady',
  say: (line: string) => void,
): Promise<void> {
  const target = contender.targets.stream;
  if (!target) return;
  const found = await measureStreams({
    url: target.url,
    headers: target.headers,
    body: chatBody(`bench-s${streamFrames}x${streamCadenceMs}`, true, 1024),
    streams,
    frames: streamFrames,
    cadenceMs: streamCadenceMs,
    mode,
    rounds: 3,
  });
  const series = seriesOf(measured.streams, `${contender.name}/${streams}/${mode}`, () => ({
    streams,
    mode,
    firstP50: [],
    firstP99: [],
    frameP50: [],
    frameP99: [],
    framesLost: 0,
    failures: 0,
  }));
  series.firstP50.push(found.firstP50Micros);
  series.firstP99.push(found.firstP99Micros);
  series.frameP50.push(found.frameP50Micros);
  series.frameP99.push(found.frameP99Micros);
  series.framesLost += found.framesLost;
  series.failures += found.failures;
  say(
    `streams ${streams} ${mode} ${contender.name}: first ${found.firstP50Micros} / ${found.firstP99Micros} µs, ${found.framesLost} frames lost`,
  );
}

function seriesOf<T>(map: Map<string, T>, key: string, fresh: () => T): T {
  const known = map.get(key) ?? fresh();
  map.set(key, known);
  return known;
}
