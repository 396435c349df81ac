import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cores, findProgram, run } from '../processes.ts';

/** The request that is sent repeatedly. */
export interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** A header whose value changes from call to call. `wrk` only. */
  readonly drawn?: DrawnHeader;
}

/** Values of one header, all of one length, concatenated in a file. Each call sends a random one. */
interface DrawnHeader {
  readonly name: string;
  readonly file: string;
  readonly width: number;
  readonly count: number;
  /** Number of entries at the start of the file that `share` (0 to 1) of the calls use; the other calls use all entries. */
  readonly hot: number;
  readonly share: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  /** Replies that were not 2xx, and calls that broke or timed out. */
  readonly errors: number;
}

export type LoadTool = 'wrk' | 'autocannon';

/** `wrk` if it is installed. autocannon needs most of a core itself and hides the gateway's capacity. */
export function preferredTool(): LoadTool {
  return findProgram('wrk') ? 'wrk' : 'autocannon';
}

/** Keeps `connections` calls to the target in flight for this many seconds, from the load core. */
export function load(tool: LoadTool, target: Target, connections: number, seconds: number): Promise<LoadResult> {
  return tool === 'wrk' ? loadWithWrk(target, connections, seconds) : loadWithAutocannon(target, connections, seconds);
}

const scripts = mkdtempSync(join(tmpdir(), 'svc-bench-'));
let scriptCount = 0;
process.once('exit', () => rmSync(scripts, { recursive: true, force: true }));

async function loadWithWrk(target: Target, connections: number, seconds: number): Promise<LoadResult> {
  const script = join(scripts, `${++scriptCount}.lua`);
  const headers = Object.entries(target.headers).map(
    ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${luaText(value)}`,
  );
  writeFileSync(
    script,
    `wrk.method = "POST"
wrk.body = ${luaText(target.body)}
${headers.join('\n')}
${target.drawn ? drawScript(target.drawn) : ''}
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format('RESULT {"requests":%d,"micros":%d,"p50":%d,"p99":%d,"errors":%d}\\n', summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`,
  );
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, target.url];
  const output = await run(cores.load, findProgram('wrk') as string, args);
  const result = JSON.parse(/^RESULT (.*)$/m.exec(output)?.[1] ?? 'null') as Record<
    'requests' | 'micros' | 'p50' | 'p99' | 'errors',
    number
  >;
  return {
    requests: result.requests,
    requestsPerSecond: (result.requests * 1_000_000) / result.micros,
    p50Micros: result.p50,
    p99Micros: result.p99,
    errors: result.errors,
  };
}

function drawScript({ name, file, width, count, hot, share }: DrawnHeader): string {
  return `local values = io.open(${luaText(file)}):read("*a")
math.randomseed(os.time())
request = function()
  local index = math.random() < ${share} and math.random(0, ${hot - 1}) or math.random(0, ${count - 1})
  wrk.headers[${JSON.stringify(name)}] = values:sub(index * ${width} + 1, (index + 1) * ${width})
  return wrk.format()
end`;
}

async function loadWithAutocannon(target: Target, connections: number, seconds: number): Promise<LoadResult> {
  const program = fileURLToPath(new URL('../../node_modules/autocannon/autocannon.js', import.meta.url));
  const headers = Object.entries(target.headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const args = [program, '--json', '--no-progress', '-m', 'POST', '-c', String(connections), '-d', String(seconds), '-t', '10'];
  const output = await run(cores.load, process.execPath, [...args, ...headers, '-b', target.body, target.url]);
  const result = JSON.parse(output) as {
    requests: { total: number };
    latency: { p50: number; p99: number };
    duration: number;
    errors: number;
    timeouts: number;
    non2xx: number;
  };
  return {
    requests: result.requests.total,
    requestsPerSecond: result.requests.total / result.duration,
    p50Micros: result.latency.p50 * 1000,
    p99Micros: result.latency.p99 * 1000,
    errors: result.errors + result.non2xx,
  };
}

/** Quotes any text as a Lua string. */
function luaText(text: string): string {
  return `"${[...Buffer.from(text)].map((byte) => (byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`)).join('')}"`;
}
