/**
 * Measures the cost of guardrails: instructions and CPU time of a plain call with two guardrails on the request and one on the response against the same call
 * without, in turn, and the delay of the event loop while prompts of 1 MB are matched and counted. See README.md.
 *
 *     node bench/guardrails.ts [--rounds 5] [--seconds 4] [--only calls|prompts]
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startGateway } from '../test/support/product/start-gateway.ts';
import { countInstructions } from './count-instructions.ts';
import { openLoopClock } from './hostile-bodies/read-loop-clock.ts';
import { load, preferredTool, type Target } from './load/load.ts';
import { cores, cpuMicros, end, moveToLoadCore, startServer } from './processes.ts';
import { median } from './report/statistics.ts';
import { chatBody } from './scenarios.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const tool = preferredTool();
const loop = await openLoopClock();
const upstream = await startServer(cores.load, new URL('./fake-upstream.ts', import.meta.url), []);
const gateway = await startGateway({
  sourceDir: fileURLToPath(new URL('..', import.meta.url)),
  prefix: cores.gateway,
  env: { GATEWAY_PROCESSES: '1', LOG_LEVEL: 'warn', ...loop.env },
});
const [pid] = gateway.pidsOf('gateway') as [number];

const words = ['password', 'secret', 'confidential', 'internal only', 'api key', 'token', 'credential', 'private'];
const contains = (more: object = {}) => ({ 'default.contains': { words, operator: 'none' }, deny: true, ...more });
const cards = (more: object = {}) => ({ 'default.regexMatch': { rule: '\\b\\d{13,16}\\b', not: true }, deny: true, ...more });
const guarded = { input_guardrails: [contains(), cards()], output_guardrails: [contains()] };

try {
  for (const each of gateway.pidsOf('control-plane')) moveToLoadCore(each);
  const provider = await gateway.admin.createUpstream('bench', `http://127.0.0.1:${upstream.port}/v1`);
  const counted = await gateway.admin.createKey({
    usage_limits: { type: 'tokens', credit_limit: 1e12, periodic_reset: 'monthly' },
  });
  const targetOf = async (config: object, body: string, key = gateway.workspaceKey): Promise<Target> => ({
    url: `${gateway.baseUrl}/chat/completions`,
    headers: {
      'content-type': 'application/json',
      'x-svc-api-key': key,
      'x-svc-config': await gateway.admin.createConfig({ provider, ...config }),
    },
    body,
  });
  if (values.only !== 'prompts') {
    const plain = chatBody('bench-r1024', false, 1024);
    const stream = chatBody('bench-s32x0', true, 1024);
    await compare('plain call, 1 KB', [
      ['without guardrails', await targetOf({}, plain)],
      ['two on the request, one on the response', await targetOf(guarded, plain)],
      ['one async on the request', await targetOf({ input_guardrails: [contains({ async: true })] }, plain)],
    ]);
    await compare('stream of 32 events', [
      ['without guardrails', await targetOf({}, stream)],
      ['one on the response, observe', await targetOf({ output_guardrails: [contains({ stream: 'observe' })] }, stream)],
      ['one on the response, window', await targetOf({ output_guardrails: [contains({ stream: 'window' })] }, stream)],
      ['one on the response, buffer', await targetOf({ output_guardrails: [contains({ stream: 'buffer' })] }, stream)],
    ]);
  }
  if (values.only !== 'calls') {
    const large = chatBody('bench-r1024', false, 1024 * 1024);
    await delays([
      ['small calls only', await targetOf({}, chatBody('bench-r1024', false, 1024)), 8],
      ['1 MB prompts, no guardrails', await targetOf({}, large), 8],
      ['1 MB prompts, matched', await targetOf(guarded, large), 8],
      ['1 MB prompts, matched and counted', await targetOf(guarded, large, counted.key), 8],
    ]);
  }
} finally {
  await gateway.stop();
  await end(upstream.child);
  await loop.close();
}

/**
 * Prints instructions and CPU per call of each target, and their ratios to the first one of the same round. Instructions are those of the main thread,
 * kernel included, and do not depend on other work on the machine once the code is compiled.
 */
async function compare(title: string, targets: readonly (readonly [string, Target])[]): Promise<void> {
  const costs = targets.map((): number[] => []);
  const instructions = targets.map((): number[] => []);
  for (const [, target] of targets) await load(tool, target, 8, 4);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < targets.length; turn++) {
      const at = (turn + round) % targets.length;
      const before = cpuMicros([pid]);
      const [, target] = targets[at] as readonly [string, Target];
      const { result, counts } = await countInstructions([pid], () => load(tool, target, 8, seconds), 'main');
      const { requests, errors } = result;
      if (errors > 0) throw new Error(`${errors} calls failed`);
      instructions[at]?.push((counts?.[0]?.instructions ?? Number.NaN) / requests / 1000);
      costs[at]?.push((cpuMicros([pid]) - before) / requests);
    }
  }
  const isCounted = Number.isFinite(instructions[0]?.[0]);
  const columns = isCounted ? ['thousand instructions per call', 'CPU µs per call'] : ['CPU µs per call'];
  console.log(`\n| ${title} | ${columns.map((column) => `${column} | ÷ without |`).join(' ')}`);
  console.log(`| --- |${columns.map(() => ' --: | --: |').join('')}`);
  for (const [at, [name]] of targets.entries()) {
    const cells = (isCounted ? [instructions, costs] : [costs]).flatMap((all) => {
      const own = all[at] as number[];
      return [
        spread(own, 0),
        spread(
          own.map((cost, round) => cost / (all[0]?.[round] as number)),
          2,
        ),
      ];
    });
    console.log(`| ${name} | ${cells.join(' | ')} |`);
  }
}

/** Prints how late timers of the gateway are while each target is called. */
async function delays(targets: readonly (readonly [string, Target, number])[]): Promise<void> {
  console.log(
    '\n| calls, 8 at once | calls/s | event loop late, p99 CPU ms | longest block, CPU ms |\n| --- | --: | --: | --: |',
  );
  for (const [name, target, connections] of targets) {
    await load(tool, target, connections, 2);
    const found: { rate: number; late: number; longest: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      await loop.take(pid);
      const { requestsPerSecond, errors, requests } = await load(tool, target, connections, seconds);
      if (errors > 0) console.log(`${name}: ${errors} of ${requests} calls failed`);
      const { p99DelayMs, longestMs } = await loop.take(pid);
      found.push({ rate: requestsPerSecond, late: p99DelayMs, longest: longestMs });
    }
    const of = (key: 'rate' | 'late' | 'longest') =>
      spread(
        found.map((each) => each[key]),
        1,
      );
    console.log(`| ${name} | ${of('rate')} | ${of('late')} | ${of('longest')} |`);
  }
}

function spread(list: readonly number[], digits: number): string {
  const text = (value: number) => value.toFixed(digits);
  return `${text(median(list))} (${text(Math.min(...list))}–${text(Math.max(...list))})`;
}
