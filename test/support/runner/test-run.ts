import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenOf, isAlive } from '../processes/process-tree.ts';
import { until } from '../until.ts';

/**
 * Test files that share a process may share databases and products. Vitest ends its processes without warning, so they record what must
 * be removed at the end of the run in this directory.
 */
const variable = 'TEST_RUN_DIR';

/** Vitest calls this once for each project, before any test. The first call prepares the directory and returns the clean-up. */
export default function prepare(): (() => Promise<void>) | undefined {
  if (process.env[variable]) return;
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-run-'));
  process.env[variable] = directory;
  for (const kind of kinds) mkdirSync(join(directory, kind));
  return async () => {
    for (const pid of readdirSync(join(directory, 'products'))) await stopProduct(Number(pid));
    printDeaths(directory);
    const names = readdirSync(join(directory, 'databases'));
    if (names.length > 0) {
      const { dropDatabases } = await import('../../admin/support/test-database.ts');
      await dropDatabases(names);
    }
    await rm(directory, { recursive: true, force: true });
    delete process.env[variable];
  };
}

const kinds = ['products', 'databases'] as const;

/** Returns true in a process of vitest, false in benches and other programs. */
export function isTestRun(): boolean {
  return process.env[variable] !== undefined;
}

/** Returns a directory that is removed at the end of the run. */
export function runDirectory(): string {
  const directory = process.env[variable];
  if (!directory) throw new Error(`${variable} is not set: vitest.config.ts must name this file as globalSetup`);
  return directory;
}

/** Records a product by the process id of its supervisor, or a database of the test server by its name. */
export function removeAfterRun(kind: (typeof kinds)[number], id: string | number): void {
  writeFileSync(join(runDirectory(), kind, String(id)), '');
}

/** Prints the output of shared products of which a process died: the tests that failed by that do not show the reason. */
function printDeaths(directory: string): void {
  for (const name of readdirSync(directory).filter((folder) => folder.startsWith('product-'))) {
    const output = readFileSync(join(directory, name, 'output'), 'utf8');
    if (output.includes('process died')) console.error(`--- printed by the shared ${name} ---\n${output.slice(-20_000)}`);
  }
}

/** Sends SIGTERM to a supervisor and waits until it and its children have ended. */
async function stopProduct(pid: number): Promise<void> {
  if (!isAlive(pid)) return;
  const pids = [pid, ...childrenOf(pid)];
  process.kill(pid, 'SIGTERM');
  await until(() => pids.every((one) => !isAlive(one)), { what: `the end of the product ${pid}`, deadlineMs: 60_000 });
}
