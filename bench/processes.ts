import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';

/** Cores of the processes: the gateways on one core, load and upstream on another. Empty if the machine cannot pin processes. */
export const cores = {
  gateway: pinTo(0),
  load: pinTo(1),
};

export function isPinned(): boolean {
  return cores.gateway.length > 0;
}

/** Moves a running process with all its threads to the core of the load generator. */
export function moveToLoadCore(pid: number): void {
  if (isPinned()) execFileSync('taskset', ['-a', '-p', '-c', '1', String(pid)], { stdio: 'ignore' });
}

/** Returns the full path of a program. Null if it is not installed. */
export function findProgram(name: string): string | null {
  for (const folder of [...(process.env.PATH ?? '').split(':'), '/usr/local/sbin', '/usr/sbin', '/sbin']) {
    if (folder && existsSync(`${folder}/${name}`)) return `${folder}/${name}`;
  }
  return null;
}

/** Starts a program with the command `prefix` before it, for example to pin it to `cores`. */
export function start(
  prefix: readonly string[],
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const [first, ...rest] = [...prefix, command, ...args];
  return spawn(first as string, rest, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
}

/** Starts one of this folder's servers. Returns the port that it prints. */
export async function startServer(
  prefix: readonly string[],
  file: URL,
  args: readonly string[],
): Promise<{ child: ChildProcess; port: number }> {
  const child = start(prefix, process.execPath, [file.pathname, ...args]);
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const port = /^listening (\d+)$/.exec(line)?.[1];
    if (port) return { child, port: Number(port) };
  }
  throw new Error(`${file.pathname} ended before it listened`);
}

/** Runs a program to its end and returns its output. Throws with the output if it fails. */
export async function run(prefix: readonly string[], command: string, args: readonly string[]): Promise<string> {
  const child = start(prefix, command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout?.on('data', (text) => (output += text));
  child.stderr?.on('data', (text) => (errors += text));
  const code = await new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Error(`${command} ended with ${code}\n${output}\n${errors}`);
  return output;
}

/** Ends a child and waits for it: SIGTERM first, SIGKILL after `patienceMs`. */
export async function end(child: ChildProcess, patienceMs = 5000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const last = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await exited;
  clearTimeout(last);
}

const ticksPerSecond = Number(safely(() => execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) ?? 100);

/**
 * Returns the processor time of these processes since their start, all threads, user and system, in microseconds (proc(5),
 * `stat`).
 */
export function cpuMicros(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = safely(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
    if (!stat) continue;
    // The name in parentheses may hold spaces; utime and stime are the 12th and 13th fields after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return (ticks * 1_000_000) / ticksPerSecond;
}

/** Returns the sum of the resident memory of these processes in mebibytes. */
export function residentMib(pids: readonly number[]): number {
  let kib = 0;
  for (const pid of pids) {
    kib += Number(/^VmRSS:\s+(\d+)/m.exec(safely(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? '')?.[1] ?? 0);
  }
  return kib / 1024;
}

function pinTo(core: number): readonly string[] {
  const program = findProgram('taskset');
  return program && availableParallelism() >= 2 ? [program, '-c', String(core)] : [];
}

function safely<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
