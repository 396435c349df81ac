import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Python with the package chdb, which contains the ClickHouse engine. */
const python = process.env.CHDB_PYTHON ?? 'python3';
const found = spawnSync(python, ['-c', 'import importlib.util as u, sys; sys.exit(u.find_spec("chdb") is None)']);

/** Why there is no ClickHouse; null when there is one. */
export const clickhouseMissing =
  found.status === 0 ? null : 'the Python package chdb is not installed (see CHDB_PYTHON), so nothing runs against ClickHouse';

export interface TestClickHouse {
  /** Value of ANALYTICS_URL. */
  readonly url: string;
  /** Sends a statement and returns the rows. */
  ask(text: string): Promise<Record<string, unknown>[]>;
  /** Ends the server. Its data stays for `start`. */
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  /** Ends the server and deletes its data. */
  close(): Promise<void>;
}

/** Certificate of the server with `withTls`, and its key. */
export const clickhouseTls = ['cert.pem', 'key.pem'].map((name) => fileURLToPath(new URL(`../tls/${name}`, import.meta.url)));

/** Starts a ClickHouse server without tables on a free port. */
export async function startClickHouse({ withTls = false } = {}): Promise<TestClickHouse> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-clickhouse-'));
  const script = fileURLToPath(new URL('clickhouse-front.py', import.meta.url));
  let child: ChildProcess;
  let port = '0';
  const start = async () => {
    child = spawn(python, [script, directory, port, ...(withTls ? clickhouseTls : [])], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the server ended with ${code} before it was ready`);
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    [port] = (await Promise.race([once(lines, 'line'), ended])) as [string];
    ended.catch(() => {});
  };
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    url: `${withTls ? 'https' : 'http'}://tester:planted-secret@127.0.0.1:${port}/default`,
    async ask(text) {
      const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: text });
      const body = await reply.text();
      if (!reply.ok) throw new Error(body);
      return body.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    },
    start,
    stop,
    async close() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
