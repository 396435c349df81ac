#!/usr/bin/env node
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeVersionIssue } from '../../config/node-version.ts';

/**
 * The `svc-gateway` command. Under Node 22 it is the program itself. Under any other version it starts the program with the Node
 * 22 that was installed beside it, forwards signals to it, and returns its exit code. Uses only features of Node 18.
 */
const issue = nodeVersionIssue(process.versions.node);

if (issue === null) {
  await import('./main.ts');
} else {
  const node = installedNode();
  if (node === null) {
    process.stderr.write(`${issue}; none is installed beside this package\n`);
    process.exitCode = 78;
  } else {
    const main = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? 'main.ts' : 'main.js', import.meta.url));
    standInFor(spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' }));
  }
}

/** Path of the Node executable that came as a package; its name depends on the platform. */
function installedNode(): string | null {
  const require = createRequire(import.meta.url);
  for (const prefix of ['node', 'node-bin']) {
    const name = `${prefix}-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
    try {
      const manifest = require.resolve(`${name}/package.json`);
      const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { node: string } };
      return join(dirname(manifest), bin.node);
    } catch {
      // The package is not installed under this name.
    }
  }
  return null;
}

function standInFor(child: ChildProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal === 'SIGKILL' ? 9 : 15);
  });
}
