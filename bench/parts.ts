/**
 * Prints how the CPU time of a plain call splits by part of the gateway: samples of V8's profiler in one gateway process under load. A sample
 * in a native function, such as a system call, belongs to the file that called it.
 *
 *     node bench/parts.ts [--seconds 10] [--connections 8] [--bytes 1024] [--stream]
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startGateway } from '../test/support/product/start-gateway.ts';
import { load, preferredTool } from './load/load.ts';
import { cores, end, moveToLoadCore, startServer } from './processes.ts';
import { chatBody } from './scenarios.ts';

/** The first pattern that matches the path of a file names its part. */
const parts: readonly (readonly [part: string, pattern: RegExp])[] = [
  ['edge', /\/core\/http\//],
  ['auth', /\/plugins\/auth\/|\/core\/jwt\//],
  ['config', /\/plugins\/config-resolution\/|\/core\/documents\/|\/core\/pipeline\/plan\/|\/node_modules\/lru-cache\//],
  ['limits', /\/plugins\/limits\/|\/core\/leases\/|\/core\/circuits\//],
  ['upstream', /\/core\/upstream\/|\/node_modules\/undici\/|^wasm:/],
  ['metrics', /\/core\/telemetry\/|\/measured-journal\.ts$/],
  ['record', /\/plugins\/record\/|\/core\/journal\//],
  ['dispatch', /\/core\/|\/plugins\//],
];

/** The fields of a profile that this program reads. Times are in microseconds of the monotonic clock. */
interface Profile {
  readonly startTime: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '8' },
    bytes: { type: 'string', default: '1024' },
    stream: { type: 'boolean', default: false },
  },
});
const directory = await mkdtemp(join(tmpdir(), 'svc-parts-'));
const upstream = await startServer(cores.load, new URL('./fake-upstream.ts', import.meta.url), []);
const gateway = await startGateway({
  // The bundle is one file. Only the source shows the parts.
  sourceDir: fileURLToPath(new URL('..', import.meta.url)),
  prefix: cores.gateway,
  env: {
    GATEWAY_PROCESSES: '1',
    LOG_LEVEL: 'warn',
    NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=200 --cpu-prof-dir=${directory} --cpu-prof-name=\${pid}.cpuprofile`,
  },
});
try {
  for (const pid of gateway.pidsOf('control-plane')) moveToLoadCore(pid);
  const [pid] = gateway.pidsOf('gateway');
  const provider = await gateway.admin.createUpstream('bench', `http://127.0.0.1:${upstream.port}/v1`);
  const config = await gateway.admin.createConfig({ provider });
  const target = {
    url: `${gateway.baseUrl}/chat/completions`,
    headers: { 'content-type': 'application/json', 'x-svc-api-key': gateway.workspaceKey, 'x-svc-config': config },
    body: chatBody(values.stream ? 'bench-s32x0' : 'bench-r1024', values.stream, Number(values.bytes)),
  };
  const tool = preferredTool();
  const connections = Number(values.connections);
  await load(tool, target, connections, Number(values.seconds));
  const beganMicros = Number(process.hrtime.bigint() / 1000n);
  const { requests } = await load(tool, target, connections, Number(values.seconds));
  const endedMicros = Number(process.hrtime.bigint() / 1000n);
  await gateway.stop();
  const name = readdirSync(directory).find((file) => file.startsWith(`${pid}.`));
  if (name === undefined) throw new Error(`the gateway wrote no profile to ${directory}`);
  print(split(JSON.parse(readFileSync(join(directory, name), 'utf8')) as Profile, beganMicros, endedMicros), requests);
} finally {
  await gateway.stop();
  await end(upstream.child);
  await rm(directory, { recursive: true });
}

/** Returns the microseconds of each part between two times, without idle time. */
function split(profile: Profile, beganMicros: number, endedMicros: number): ReadonlyMap<string, number> {
  const partOf = new Map<number, string>();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const name = (id: number, above: string): void => {
    const node = nodes.get(id);
    if (node === undefined) return;
    const { functionName, url } = node.callFrame;
    const own =
      functionName === '(garbage collector)' ? 'garbage collection' : parts.find(([, pattern]) => pattern.test(url))?.[0];
    partOf.set(id, functionName === '(idle)' ? 'idle' : (own ?? above));
    for (const child of node.children ?? []) name(child, own ?? above);
  };
  name(profile.nodes[0]?.id ?? 0, 'event loop and other');
  const sums = new Map<string, number>();
  let atMicros = profile.startTime;
  for (const [i, id] of profile.samples.entries()) {
    atMicros += profile.timeDeltas[i] ?? 0;
    const part = partOf.get(id) ?? 'idle';
    if (atMicros < beganMicros || atMicros > endedMicros || part === 'idle') continue;
    sums.set(part, (sums.get(part) ?? 0) + (profile.timeDeltas[i] ?? 0));
  }
  return sums;
}

function print(sums: ReadonlyMap<string, number>, requests: number): void {
  const all = [...sums.values()].reduce((sum, micros) => sum + micros, 0);
  process.stdout.write(`${requests} requests, load average ${loadavg()[0]?.toFixed(1)}\n`);
  for (const [part, micros] of [...sums].toSorted((a, b) => b[1] - a[1])) {
    process.stdout.write(`${part.padEnd(22)} ${((100 * micros) / all).toFixed(1).padStart(5)} %\n`);
  }
}
