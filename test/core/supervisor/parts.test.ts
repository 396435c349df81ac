import { EventEmitter, once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../../config/load-settings.ts';
import { busyPorts } from '../../../core/supervisor/check-ports.ts';
import { readyText } from '../../../core/supervisor/ready-text.ts';
import { restartDelayMs } from '../../../core/supervisor/restart-delay.ts';
import { onStopSignals } from '../../../core/supervisor/stop-signals.ts';
import { freePorts } from '../../support/processes/free-port.ts';

const keys = {
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
  CLUSTER_KEY: Buffer.alloc(32, 2).toString('base64'),
  DATA_DIR: mkdtempSync(tmpdir()),
};

describe('restartDelayMs', () => {
  it('returns zero for a first death, and doubles from 100 ms to 5 s in a crash loop', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000].map((deaths) => restartDelayMs(deaths, false))).toEqual([
      0, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000,
    ]);
  });

  it('stays below a second for a child that works until it is killed', () => {
    expect([1, 2, 3, 4, 5, 1_000].map((deaths) => restartDelayMs(deaths, true))).toEqual([0, 100, 200, 400, 400, 400]);
  });
});

describe('onStopSignals', () => {
  function listen(): { source: EventEmitter; calls: string[]; clock: { now: number } } {
    const source = new EventEmitter();
    const calls: string[] = [];
    const clock = { now: 0 };
    onStopSignals(
      source,
      () => clock.now,
      () => calls.push('first'),
      () => calls.push('again'),
    );
    return { source, calls, clock };
  }

  it('treats a repeated signal within half a second as one, and a later or different one as the second', () => {
    const { source, calls, clock } = listen();
    source.emit('SIGINT');
    clock.now = 500;
    source.emit('SIGINT');
    expect(calls).toEqual(['first']);
    clock.now = 501;
    source.emit('SIGINT');
    expect(calls).toEqual(['first', 'again']);
    const other = listen();
    other.source.emit('SIGTERM');
    other.source.emit('SIGINT');
    expect(other.calls).toEqual(['first', 'again']);
  });
});

describe('busyPorts', () => {
  const freeOnes = async () => {
    const [port, controlPlanePort] = await freePorts(2);
    return { PORT: String(port), CONTROL_PLANE_PORT: String(controlPlanePort) };
  };

  it('returns the setting whose port is in use by another process', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const free = await freeOnes();
    const settings = (env: Record<string, string>) => loadSettings({ ...keys, ...free, ...env });
    expect(await busyPorts(settings({ PORT: String(port) }), 0)).toEqual([
      `PORT: got "${port}", expected a free port, but another process listens on 127.0.0.1:${port}`,
    ]);
    expect(await busyPorts(settings({ CONTROL_PLANE_PORT: String(port) }), 0)).toEqual([
      expect.stringMatching(/^CONTROL_PLANE_PORT: /),
    ]);
    expect(await busyPorts(settings({ PORT: String(port), ROLE: 'control-plane' }), 0)).toEqual([]);
    const freed = busyPorts(settings({ PORT: String(port) }), 10_000);
    server.close();
    expect(await freed).toEqual([]);
  });

  it('checks the control-plane port on the control-plane address', async () => {
    const settings = loadSettings({ ...keys, ...(await freeOnes()), CONTROL_PLANE_HOST: '192.0.2.1' });
    expect(await busyPorts(settings, 0)).toEqual([
      'CONTROL_PLANE_HOST: got "192.0.2.1", expected an address of this machine (EADDRNOTAVAIL)',
    ]);
  });

  it('reports why an address cannot be used', async () => {
    const settings = loadSettings({ ...keys, ...(await freeOnes()), HOST: '192.0.2.1', ROLE: 'gateway' });
    expect(await busyPorts(settings, 0)).toEqual(['HOST: got "192.0.2.1", expected an address of this machine (EADDRNOTAVAIL)']);
  });
});

describe('readyText', () => {
  it('contains an address that works on this machine', () => {
    const shown = (env: Record<string, string>) => readyText(loadSettings({ ...keys, ...env }), null, true);
    const ready = (base: string) => `gateway ready on ${base}\nAPI documentation: ${base}/docs\n`;
    expect(shown({ HOST: '0.0.0.0', PORT: '80' })).toBe(ready('http://127.0.0.1:80/v1'));
    expect(shown({ HOST: '::1' })).toBe(ready('http://[::1]:8787/v1'));
  });
});
