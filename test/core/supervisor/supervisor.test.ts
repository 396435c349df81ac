import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { settingsTable } from '../../../config/settings-table.ts';
import { version } from '../../../config/version.ts';
import { isAlive } from '../../support/processes/process-tree.ts';
import { productFile } from '../../support/product/product.ts';
import { until, within } from '../../support/until.ts';
import { SupervisorRun } from './run-fixture.ts';

let current: SupervisorRun | null = null;
afterEach(async () => {
  current?.signal('SIGKILL');
  await current?.exited;
  current = null;
});

function start(fixture = '', env: Record<string, string> = {}): SupervisorRun {
  current = new SupervisorRun({ FIXTURE: fixture, ...env });
  return current;
}

describe('children', () => {
  it('one control plane and the configured number of gateways start, and readiness is reported after all', async () => {
    const run = start('', { GATEWAY_PROCESSES: '3' });
    await run.line(/^gateway ready on http:\/\/127\.0\.0\.1:8787\/v1$/);
    expect(
      run.lines
        .filter((line) => / started /.test(line))
        .map((line) => line.split(' ')[0])
        .sort(),
    ).toEqual(['0', '1', '2', 'control-plane']);
    expect(run.count(/ready on/)).toBe(1);
  });

  it('only gateways get the gateway flags', async () => {
    const run = start();
    await run.line(/ready on/);
    expect(
      run.lines
        .filter((line) => / started /.test(line))
        .map((line) => line.split(' ').slice(3).join(' '))
        .sort(),
    ).toEqual(['-', '--max-semi-space-size=2', '--max-semi-space-size=2']);
  });

  it.each([
    ['gateway', ['0', '1'], /^gateway ready on/],
    ['control-plane', ['control-plane'], /^control plane ready on http:\/\/127\.0\.0\.1:8788$/],
  ])('ROLE=%s starts only that part', async (ROLE, places, ready) => {
    const run = start('', { ROLE });
    await run.line(ready);
    expect(
      run.lines
        .filter((line) => / started /.test(line))
        .map((line) => line.split(' ')[0])
        .sort(),
    ).toEqual(places);
  });

  it('readiness is not reported while one child is not ready', async () => {
    const run = start('1:never-ready');
    await run.line(/^1 started/);
    await run.line(/^log debug ready .*control-plane/);
    await run.line(/^log debug ready .*gateway 0/);
    expect(run.count(/ready on/)).toBe(0);
  });

  it('gateways start after the control plane is ready, so that their first request succeeds', async () => {
    const run = start();
    await run.line(/ready on/);
    const order = [/^log debug ready .*control-plane/, /^0 started/, /^1 started/].map((pattern) =>
      run.lines.findIndex((line) => pattern.test(line)),
    );
    expect(order).not.toContain(-1);
    expect(order[0]).toBe(Math.min(...order));
  });

  it.each([
    ['dies', 'control-plane:crash', '60000'],
    ['is not ready in time', 'control-plane:never-ready', '50'],
    ['cannot reach its database', 'control-plane:never-ready,control-plane:database-away', '60000'],
  ])('gateways start without a control plane that %s', async (_what, fixture, GATEWAYS_WAIT) => {
    const run = start(fixture, { GATEWAYS_WAIT });
    await run.line(/^log debug ready .*gateway 0/);
    await run.line(/^log debug ready .*gateway 1/);
    expect(run.count(/^log debug ready .*control-plane/)).toBe(0);
  });

  it('no gateway starts after a stop', async () => {
    const run = start('control-plane:never-ready');
    await run.line(/^control-plane started/);
    run.signal('SIGTERM');
    expect(await run.exited).toBe(0);
    expect(run.count(/^[01] started/)).toBe(0);
  });

  it('first keys are printed once on a terminal, with a call to paste', async () => {
    const run = start('control-plane:first-start', { ON_TERMINAL: 'true' });
    await run.line(/^ {2}curl http:\/\/127\.0\.0\.1:8787\/v1\/chat\/completions -H 'x-svc-api-key: svc_ws_made-up' /);
    await run.line(/^ {2}admin key +svc_admin_made-up$/);
    process.kill(await run.pidOf('control-plane'), 'SIGKILL');
    await run.line(/^control-plane started/, 2);
    await run.line(/^log debug ready .*control-plane/, 2);
    expect(run.count(/svc_admin_made-up/)).toBe(1);
    expect(run.count(/ready on/)).toBe(1);
  });

  it('first keys are not printed elsewhere: the output names their file and a command to read it', async () => {
    const run = start('control-plane:first-start');
    await run.line(/^The first keys are in \/.*first-keys\.json, readable only by you\.$/);
    await run.line(/^ {2}curl .* -H "x-svc-api-key: \$\(node -p "require\('\/.*first-keys\.json'\)\.workspace_key"\)" /);
    expect(run.lines.join('\n')).not.toContain('made-up');
  });

  it('the file of the first keys is named also if only the control plane runs', async () => {
    const run = start('control-plane:first-start', { ROLE: 'control-plane' });
    await run.line(/^The first keys are in /);
    expect(run.count(/curl/)).toBe(0);
  });

  it('keys from the environment are not printed', async () => {
    const run = start('control-plane:first-start', {
      ON_TERMINAL: 'true',
      BOOTSTRAP_ADMIN_KEY: `svc_admin_${'a'.repeat(12)}_${'b'.repeat(46)}`,
      BOOTSTRAP_WORKSPACE_KEY: `svc_ws_${'a'.repeat(12)}_${'b'.repeat(46)}`,
    });
    await run.line(/-H "x-svc-api-key: \$BOOTSTRAP_WORKSPACE_KEY"/);
    expect(run.lines.join('\n')).not.toMatch(/made-up|bbbb/);
  });

  it('circuit notices of a gateway go to the other gateways only', async () => {
    const run = start('0:circuit-on-command', { GATEWAY_PROCESSES: '3' });
    await run.line(/ready on/);
    process.kill(await run.pidOf('0'), 'SIGUSR2');
    await run.line(/^1 told {"revision":0}/);
    await run.line(/^2 told {"revision":0}/);
    expect(run.count(/^(0|control-plane) told/)).toBe(0);
  });

  it('change notices of the control plane go to every gateway, in order', async () => {
    const run = start();
    await run.line(/ready on/);
    process.kill(await run.pidOf('control-plane'), 'SIGUSR2');
    await run.line(/^0 notice 3/);
    await run.line(/^1 notice 3/);
    for (const place of ['0', '1']) {
      expect(run.lines.filter((line) => line.startsWith(`${place} notice`))).toEqual(
        [1, 2, 3].map((revision) => `${place} notice ${revision}`),
      );
    }
  });
});

describe('metrics of the supervisor', () => {
  it('a scrape that reaches one gateway returns the numbers of all, including restarted ones', async () => {
    const run = start('0:scrape-on-command');
    await run.line(/ready on/);
    process.kill(await run.pidOf('1'), 'SIGKILL');
    await run.line(/^log debug ready .*gateway 1/, 2);
    process.kill(await run.pidOf('0'), 'SIGUSR2');
    expect(await run.line(/^0 scraped/)).toContain('\\nlives 3\\n');
  });
});

describe('the death of a child', () => {
  it('a killed gateway is restarted at once in its own slot, and the others continue', async () => {
    const run = start();
    await run.line(/ready on/);
    const [first, other] = [await run.pidOf('1'), await run.pidOf('0')];
    process.kill(first, 'SIGKILL');
    await run.line(/^log error process died; restarting it .*"probableCause":"another process killed it, such as kill -9 /);
    expect(await run.line(/^log error process died/)).toContain('"restartInMs":0');
    expect(await run.pidOf('1', 2)).not.toBe(first);
    await run.line(/^log debug ready .*gateway 1/, 2);
    expect(isAlive(other)).toBe(true);
    expect(run.count(/^0 started/)).toBe(1);
  });

  it('a killed control plane is restarted', async () => {
    const run = start();
    await run.line(/ready on/);
    process.kill(await run.pidOf('control-plane'), 'SIGKILL');
    await run.line(/^log debug ready .*control-plane/, 2);
  });

  it('delays grow in a crash loop', async () => {
    const run = start('1:crash');
    await run.line(/^log error process died/, 5);
    const waits = run.lines
      .filter((line) => line.startsWith('log error process died'))
      .map((line) => JSON.parse(line.slice('log error process died; restarting it '.length)));
    expect(waits.map((fields) => fields.restartInMs)).toEqual([0, 100, 200, 400, 800]);
    expect(waits.every((fields) => fields.child === 'gateway 1' && fields.code === 1)).toBe(true);
  });

  it('everything stops with one line and code 78 if a child cannot run with these settings', async () => {
    const run = start('1:config-fault');
    expect(await run.exited).toBe(78);
    expect(run.count(/^SOME_SETTING: got "x", expected y$/)).toBe(1);
    expect(run.count(/^1 started/)).toBe(1);
  });

  it('a working service continues if a restarted child rejects its settings', async () => {
    const run = start('1:config-fault-later');
    await run.line(/ready on/);
    process.kill(await run.pidOf('1'), 'SIGKILL');
    await run.line(/^log error process died.*"code":78/);
    await run.line(/^1 started/, 3);
    expect(isAlive(await run.pidOf('0'))).toBe(true);
    expect(run.process.exitCode).toBe(null);
  });

  it('no child survives a killed supervisor', async () => {
    const run = start();
    await run.line(/ready on/);
    const pids = await Promise.all(['control-plane', '0', '1'].map((place) => run.pidOf(place)));
    run.signal('SIGKILL');
    await until(() => pids.every((pid) => !isAlive(pid)), { what: 'the end of the orphans' });
  });
});

describe('a stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'after %s stops the gateways, then the control plane, then the supervisor with code 0',
    async (signal) => {
      const run = start('0:drain-on-command');
      await run.line(/ready on/);
      run.signal(signal);
      await run.line(/^0 asked-to-stop/);
      await run.line(/^1 stopped/);
      expect(run.count(/^control-plane asked-to-stop/)).toBe(0);
      process.kill(await run.pidOf('0'), 'SIGUSR2');
      expect(await run.exited).toBe(0);
      const order = ['0 stopped', 'control-plane asked-to-stop', 'control-plane stopped', 'supervisor ended'].map((line) =>
        run.lines.indexOf(line),
      );
      expect(order).toEqual([...order].sort((a, b) => a - b));
      expect(order).not.toContain(-1);
      expect(run.count(/ started /)).toBe(3);
    },
  );

  it('has the same order if a signal reaches the whole process group', async () => {
    const run = start('0:drain-on-command');
    await run.line(/ready on/);
    const pids = await Promise.all(['control-plane', '0', '1'].map((place) => run.pidOf(place)));
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) for (const pid of pids) process.kill(pid, signal);
    run.signal('SIGTERM');
    await run.line(/^0 asked-to-stop/);
    expect(pids.map(isAlive).slice(0, 2)).toEqual([true, true]);
    expect(run.count(/^control-plane asked-to-stop/)).toBe(0);
    process.kill(await run.pidOf('0'), 'SIGUSR2');
    expect(await run.exited).toBe(0);
    expect(run.count(/^control-plane stopped/)).toBe(1);
  });

  it('does not follow SIGHUP, which reloads certificates', async () => {
    const run = start('');
    await run.line(/ready on/);
    run.signal('SIGHUP');
    await run.line(/^0 asked-to-reload/);
    await run.line(/^1 asked-to-reload/);
    run.signal('SIGTERM');
    expect(await run.exited).toBe(0);
    expect(run.count(/ started /)).toBe(3);
  });

  it('is immediate at a second signal', async () => {
    const run = start('0:stubborn,control-plane:stubborn');
    await run.line(/ready on/);
    const pids = [await run.pidOf('0'), await run.pidOf('control-plane')];
    run.signal('SIGTERM');
    await run.line(/^0 asked-to-stop/);
    run.signal('SIGINT');
    expect(await run.exited).toBe(1);
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it('kills a gateway that does not end in time, and still stops the control plane in order', async () => {
    const run = start('0:stubborn', { DRAIN_TIMEOUT: '2000', DEADLINE_AFTER: '12000' });
    await run.line(/ready on/);
    run.signal('SIGTERM');
    expect(await run.exited).toBe(1);
    expect(run.count(/^0 stopped/)).toBe(0);
    expect(run.count(/^control-plane stopped/)).toBe(1);
  });

  it('counts the ^C that npm repeats once', async () => {
    const run = start('0:drain-on-command');
    await run.line(/ready on/);
    run.signal('SIGINT');
    run.signal('SIGINT');
    await run.line(/^0 asked-to-stop/);
    process.kill(await run.pidOf('0'), 'SIGUSR2');
    expect(await run.exited).toBe(0);
  });

  it('cancels the restart of a crashed child', async () => {
    const run = start('1:crash');
    await run.line(/^log error process died/, 6);
    run.signal('SIGTERM');
    expect(await run.exited).toBe(0);
    expect(run.count(/^1 started/)).toBe(6);
  });
});

describe('the supervisor program', () => {
  async function program(
    args: readonly string[],
    env: Record<string, string>,
  ): Promise<{ code: number | null; out: string; err: string }> {
    const child = spawn(process.execPath, [await productFile('core/supervisor/main'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, ...env },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (text) => (out += text));
    child.stderr.on('data', (text) => (err += text));
    const code = await within(
      new Promise<number | null>((resolve) => child.once('close', resolve)),
      'the end of the program',
      20_000,
    );
    return { code, out, err };
  }

  it('prints every setting for --help and its version for --version', async () => {
    const help = await program(['--help'], {});
    expect(help.code).toBe(0);
    for (const row of Object.values(settingsTable)) expect(help.out).toMatch(new RegExp(`^ {2}${row.name} +\\S`, 'm'));
    expect(await program(['--version'], {})).toEqual({
      code: 0,
      out: `${version}\n`,
      err: '',
    });
  });

  it('rejects an unknown argument', async () => {
    const refused = await program(['--port', '1'], {});
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('--port');
  });

  it('prints one line per error, starts nothing and leaves no file', async () => {
    const dataDir = join(await mkdtemp(join(tmpdir(), 'program-')), 'data');
    const refused = await program([], { DATA_DIR: dataDir, PORT: 'x', ROLE: 'y', GATEWAY_PROCESES: '2' });
    expect(refused).toEqual({
      code: 78,
      out: '',
      err:
        'warning: GATEWAY_PROCESES: unknown setting; did you mean GATEWAY_PROCESSES?\n' +
        'PORT: got "x", expected a whole number from 1 to 65535\nROLE: got "y", expected one of all, gateway, control-plane\n',
    });
    expect(existsSync(dataDir)).toBe(false);
  });
});
