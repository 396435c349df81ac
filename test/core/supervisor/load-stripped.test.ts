import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const supervisor = join(import.meta.dirname, '../../../core/supervisor');
let root: string;

describe('load-stripped.mjs', () => {
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'svc-stripped-'));
    for (const folder of ['config', 'core/supervisor', 'plugins', 'admin', 'workers', 'node_modules']) {
      await mkdir(join(root, folder), { recursive: true });
    }
    for (const name of ['load-stripped.mjs', 'strip-sources.ts'])
      await cp(join(supervisor, name), join(root, 'core/supervisor', name));
    await writeFile(join(root, 'package.json'), '{"type":"module"}');
    await writeFile(join(root, 'config/value.ts'), 'export const value: number = 1;\n');
    await writeFile(join(root, 'core/main.ts'), main);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('keeps the type stripper out of the process, on the first start and later', async () => {
    expect(run()).toEqual({ value: 1, stripper: false });
    expect(await readdir(cache())).toHaveLength(3);
    expect(run()).toEqual({ value: 1, stripper: false });
  });

  it('loads the current version of a changed file and removes the old cache entry', async () => {
    run();
    await writeFile(join(root, 'config/value.ts'), 'export const value: number = 2;\n');
    expect(run()).toEqual({ value: 2, stripper: false });
    expect(await readdir(cache())).toHaveLength(3);
  });

  it('loads files without a cache if the folder cannot be made', async () => {
    await writeFile(join(root, 'node_modules/.cache'), 'a file, not a folder');
    expect(run()).toEqual({ value: 1, stripper: true });
  });

  it('leaves TypeScript outside the repository to Node', async () => {
    const other = await mkdtemp(join(tmpdir(), 'svc-plugin-'));
    try {
      await writeFile(join(other, 'plugin.ts'), 'export const value: number = 3;\n');
      await writeFile(join(root, 'config/value.ts'), `export { value } from ${JSON.stringify(join(other, 'plugin.ts'))};\n`);
      expect(run()).toEqual({ value: 3, stripper: true });
    } finally {
      await rm(other, { recursive: true, force: true });
    }
  });
});

const main = `import { value } from '../config/value.ts';
const list = (process as unknown as { moduleLoadList: string[] }).moduleLoadList;
process.stdout.write(JSON.stringify({ value, stripper: list.some((name) => name.includes('amaro')) }));
`;

function run(): { value: number; stripper: boolean } {
  const args = ['--no-warnings', '--import', './core/supervisor/load-stripped.mjs', 'core/main.ts'];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: {} }));
}

function cache(): string {
  return join(root, 'node_modules/.cache/svc-gateway', `stripped-${process.version}`);
}
