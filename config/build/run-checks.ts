import { spawn } from 'node:child_process';
import { join } from 'node:path';

/**
 * `npm run check`: runs the static checks, two at a time, and prints the output of each when it has ended. Exit code 1 if one of them
 * failed. The type check comes first, because it takes longest.
 */
const checks = ['types', 'imports', 'lint', 'docs', 'unused', 'main-path', 'prose'];
const atATime = 2;

// Both loops take their next name from the same iterator.
const names = checks.values();
const failed: string[] = [];
await Promise.all(Array.from({ length: atATime }, runNames));
process.stdout.write(failed.length === 0 ? 'all checks passed\n' : `failed: ${failed.join(', ')}\n`);
if (failed.length > 0) process.exitCode = 1;

async function runNames(): Promise<void> {
  for (const name of names) {
    const { code, output } = await runScript(name);
    process.stdout.write(`npm run ${name}: ${code === 0 ? 'passed' : 'failed'}\n${output}\n`);
    if (code !== 0) failed.push(name);
  }
}

/** Runs a script of package.json. `code` is null if a signal ended it. */
function runScript(name: string): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', name], {
      cwd: join(import.meta.dirname, '../..'),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
