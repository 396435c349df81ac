import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { version } from '../../config/version.ts';
import { freePorts } from '../support/processes/free-port.ts';
import { plainPath } from '../support/processes/plain-path.ts';
import { cheapStartEnv } from '../support/product/source-process.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
let folder: string;
let env: Record<string, string>;
let command: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'package-'));
  env = { PATH: plainPath(), HOME: process.env.HOME ?? folder, ...registryAccess() };
  await run('npm', ['pack', '--pack-destination', folder], { cwd: root, env });
  const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz')) as string;
  writeFileSync(join(folder, 'package.json'), '{"name":"somewhere-else","private":true}');
  if (!process.env.LONG_TESTS) linkDependencies(join(folder, 'node_modules'));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', process.env.LONG_TESTS ? '--prefer-offline' : '--offline'];
  await run('npm', ['install', ...options, join(folder, tarball)], { cwd: folder, env });
  command = join(folder, 'node_modules/.bin/svc-gateway');
}, 300_000);

/**
 * Links the direct dependencies of the package into the folder, where npm accepts them as installed: unpacking 490 MB takes most of the CPU
 * of an installation. Packages that package.json does not name as dependencies are absent.
 */
function linkDependencies(into: string): void {
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const installed = join(root, 'node_modules', name);
    if (!existsSync(installed)) continue;
    mkdirSync(dirname(join(into, name)), { recursive: true });
    symlinkSync(installed, join(into, name));
  }
}

/** Variables that a machine may need to reach its package registry: certificates and a proxy. */
function registryAccess(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name] as string]] : [])));
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed tarball', () => {
  it('holds the built program and no sources or tests', () => {
    const installed = join(folder, 'node_modules/svc-gateway');
    expect(readdirSync(installed).sort()).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'dist', 'package.json']));
    for (const absent of ['test', 'config/settings.ts', 'config/generators', '.ci'])
      expect(existsSync(join(installed, absent))).toBe(false);
    const outsideDist = (readdirSync(installed, { recursive: true }) as string[]).filter(
      (path) => !/^(dist|node_modules)\b/.test(path),
    );
    expect(outsideDist.filter((path) => /\.(ts|js)$/.test(path))).toEqual([]);
  });

  it('holds every file that README links to', () => {
    const installed = join(folder, 'node_modules/svc-gateway');
    const readme = readFileSync(join(installed, 'README.md'), 'utf8');
    const targets = [...readme.matchAll(/\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1] as string);
    expect(targets.length).toBeGreaterThan(5);
    expect(targets.filter((target) => !existsSync(join(installed, target)))).toEqual([]);
  });

  it('holds the examples that its guide of plugins names', () => {
    const installed = join(folder, 'node_modules/svc-gateway');
    const guide = readFileSync(join(installed, 'docs/guides/plugins.md'), 'utf8');
    const names = [...guide.matchAll(/^\| `([\w-]+\.mjs)` \|/gm)].map((match) => match[1] as string);
    expect(names.length).toBeGreaterThan(3);
    expect(names.filter((name) => !existsSync(join(installed, 'config/examples/plugins', name)))).toEqual([]);
  });

  it('runs --version and --help in any directory', async () => {
    expect((await run(command, ['--version'], { cwd: tmpdir(), env })).stdout).toBe(`${version}\n`);
    expect((await run(command, ['--help'], { cwd: tmpdir(), env })).stdout).toContain('GATEWAY_PROCESSES');
  });

  it('starts, prints its keys, serves a first call and stops on SIGTERM', async () => {
    const [port, controlPlanePort] = (await freePorts(2)) as [number, number];
    const settings = {
      PORT: String(port),
      CONTROL_PLANE_PORT: String(controlPlanePort),
      GATEWAY_PROCESSES: '1',
      LOG_LEVEL: 'warn',
    };
    const child: ChildProcess = spawn(command, [], {
      cwd: folder,
      env: { ...env, ...cheapStartEnv, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const exited = once(child, 'exit');
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (printed += text));
    try {
      await until(() => printed.includes('A first call') || child.exitCode !== null, {
        deadlineMs: 60_000,
        what: () => `a ready gateway; it printed\n${printed}`,
      });
      expect(printed).toContain(`gateway ready on http://127.0.0.1:${port}/v1`);
      const keys = JSON.parse(readFileSync(join(folder, '.data/first-keys.json'), 'utf8')) as { workspace_key: string };
      const health = await fetch(`http://127.0.0.1:${port}/v1/health`);
      expect([health.status, ((await health.json()) as { version: string }).version]).toEqual([200, version]);
      const reply = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'x-svc-api-key': keys.workspace_key, 'content-type': 'application/json' },
        body: JSON.stringify({ model: '@mock/echo', messages: [{ role: 'user', content: 'from the tarball' }] }),
      });
      expect([reply.status, await reply.json()]).toMatchObject([
        200,
        { choices: [{ message: { content: 'from the tarball' } }] },
      ]);
    } finally {
      child.kill('SIGTERM');
      await exited;
    }
    expect(child.exitCode).toBe(0);
  }, 120_000);
});

const typescript = join(root, 'node_modules/typescript7/bin/tsc');
const types = ['--typeRoots', join(root, 'node_modules/@types')];

describe('a provider in a package of its own', () => {
  it('is created by npm run new:provider, compiles against the tarball, and passes its tests', async () => {
    await run(process.execPath, [join(root, 'config/generators/new-provider.ts'), 'acme-ai', '--package', folder], { cwd: root });
    const cwd = join(folder, 'acme-ai');
    const names = ['README.md', 'adapter.ts', 'package.json', 'settings.test.ts', 'settings.ts', 'tsconfig.json'];
    expect(readdirSync(cwd).sort()).toEqual(names);
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap'], { cwd, env });
    expect(stdout).toContain('# pass 2');
    await run(process.execPath, [typescript, ...types], { cwd });
    const { declaration } = await import(pathToFileURL(join(cwd, 'dist/settings.js')).href);
    expect(declaration).toMatchObject({ id: 'acme-ai' });
    expect((await declaration.load()).adapters).toMatchObject([{ id: 'acme-ai' }]);
  }, 300_000);
});

describe('a plugin in a package of its own', () => {
  const olderTypescript = join(root, 'node_modules/typescript/bin/tsc');

  it('is created by npm run new:plugin, compiles against the tarball, and passes its tests', async () => {
    await run(process.execPath, [join(root, 'config/generators/new-plugin.ts'), 'deny-texts', '--package', folder], {
      cwd: root,
    });
    const cwd = join(folder, 'deny-texts');
    expect(readdirSync(cwd).sort()).toEqual(['README.md', 'index.test.ts', 'index.ts', 'package.json', 'tsconfig.json']);
    if (process.env.LONG_TESTS)
      await run(process.execPath, [olderTypescript, '--noEmit', ...types], { cwd, env: { ...env, ...cheapStartEnv } });
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap'], { cwd, env });
    expect(stdout).toContain('# pass 4');
    await run(process.execPath, [typescript, ...types], { cwd });
    const { plugin } = await import(pathToFileURL(join(cwd, 'dist/index.js')).href);
    expect(plugin).toMatchObject({ apiVersion: 1, name: 'deny-texts' });
  }, 300_000);

  it('is tested as docs/guides/plugins.md describes', async () => {
    const [plugin, test] = [...readFileSync(join(root, 'docs/guides/plugins.md'), 'utf8').matchAll(/^```js\n(.*?)^```$/gms)];
    const cwd = join(folder, 'guide');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'require-team.mjs'), plugin?.[1] as string);
    writeFileSync(join(cwd, 'require-team.test.mjs'), test?.[1] as string);
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap'], { cwd, env });
    expect(stdout).toContain('# pass 2');
  });

  it('fails to compile if a hook has the wrong type', async () => {
    const cwd = join(folder, 'deny-texts');
    const source = readFileSync(join(cwd, 'index.ts'), 'utf8');
    writeFileSync(join(cwd, 'index.ts'), source.replace("action: 'deny'", "action: 'block'"));
    await expect(run(process.execPath, [typescript, '--noEmit', ...types], { cwd })).rejects.toMatchObject({
      stdout: expect.stringContaining('index.ts('),
    });
  }, 300_000);
});
