import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Files that differ, by path. */
interface ChangedFiles {
  readonly added: readonly string[];
  /** Lines that were added to files that existed before. */
  readonly edited: Readonly<Record<string, readonly string[]>>;
  /** Files that were deleted, or that lost or changed a line. */
  readonly damaged: readonly string[];
}

/** A copy of the repository without its history, for tests that run generators. */
export interface RepositoryCopy {
  readonly root: string;
  /** Runs a Node script of the copy and returns its output. Throws an error with `stderr` if it fails. */
  run(script: string, ...args: string[]): string;
  /** Returns the changes since the copy was made, or since `acceptChanges`. */
  changes(): ChangedFiles;
  /** Accepts the changes that the last call of `changes` returned. Reading all files takes a third of a second. */
  acceptChanges(): void;
  /** Runs test files of the copy. Throws an error with their report if one fails. */
  test(...files: string[]): void;
  remove(): void;
}

const original = join(import.meta.dirname, '../../..');
const copied = ['core', 'plugins', 'admin', 'workers', 'config', 'test', 'docs', 'bench'];

export function copyRepository(): RepositoryCopy {
  const root = mkdtempSync(join(tmpdir(), 'repository-copy-'));
  const entries = readdirSync(original, { withFileTypes: true });
  for (const { name } of entries.filter((entry) => copied.includes(entry.name) || (entry.isFile() && entry.name !== '.git'))) {
    cpSync(join(original, name), join(root, name), { recursive: true, filter: (path) => !path.endsWith('/node_modules') });
  }
  symlinkSync(join(original, 'node_modules'), join(root, 'node_modules'));
  // Tests of the documents list files with git.
  execFileSync('git', ['init', '--quiet'], { cwd: root });
  let before = filesOf(root);
  let latest = before;
  const node = (args: readonly string[], env: Readonly<Record<string, string>> = {}): string =>
    execFileSync(process.execPath, args, {
      ...{ cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 },
      env: { ...process.env, ...env },
    });
  return {
    root,
    run: (script, ...args) => node([script, ...args]),
    changes() {
      latest = filesOf(root);
      return compare(before, latest);
    },
    acceptChanges() {
      before = latest;
    },
    test(...files) {
      try {
        // In a copy all sources would be transformed anew.
        node(['node_modules/vitest/vitest.mjs', 'run', '--maxWorkers=1', '--experimental.viteModuleRunner=false', ...files], {
          NODE_OPTIONS: `--import=${join(root, 'test/support/runner/own-package.mjs')}`,
        });
      } catch (error) {
        const { stdout, stderr } = error as { stdout?: string; stderr?: string };
        throw new Error(`generated tests failed:\n${stdout}\n${stderr}`);
      }
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function filesOf(root: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const name of [...copied, '.']) {
    for (const entry of readdirSync(join(root, name), { recursive: name !== '.', withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      files.set(path.slice(root.length + 1), readFileSync(path, 'latin1'));
    }
  }
  return files;
}

function compare(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ChangedFiles {
  const added = [...after.keys()].filter((path) => !before.has(path)).sort();
  const edited: Record<string, string[]> = {};
  const damaged: string[] = [];
  for (const [path, old] of before) {
    const now = after.get(path);
    if (now === old) continue;
    const insertions = now === undefined ? null : insertedLines(old.split('\n'), now.split('\n'));
    if (insertions === null) damaged.push(path);
    else edited[path] = insertions;
  }
  return { added, edited, damaged };
}

/** Returns the lines that were inserted, or null if lines were removed or changed. */
function insertedLines(old: readonly string[], now: readonly string[]): string[] | null {
  const inserted: string[] = [];
  let at = 0;
  for (const line of now) {
    if (line === old[at]) at++;
    else inserted.push(line);
  }
  return at === old.length ? inserted : null;
}
