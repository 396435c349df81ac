import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ControlPlaneClient, createControlPlaneClient } from '../../../core/documents/control-plane-client.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../../support/fake-control-plane.ts';
import { type FakeTime, newFakeTime } from '../../support/fake-time.ts';
import { newMemoryLog } from '../../support/memory-log.ts';
import { sampleKey } from '../../support/sample-documents.ts';

let plane: FakeControlPlane;
let time: FakeTime;
let log: ReturnType<typeof newMemoryLog>;
let client: ControlPlaneClient;

beforeEach(async () => {
  plane = await startFakeControlPlane();
  time = newFakeTime();
  log = newMemoryLog();
  client = createControlPlaneClient({ fetch: plane.fetch, clock: time.clock, random: () => 0.999, log, timeoutMs: 500 });
});
afterEach(() => plane.stop());

const look = () => client.document('api-key', 'key-a');

describe('the control-plane circuit breaker', () => {
  it('sends nothing during the pause after a failure', async () => {
    plane.mode = 503;
    await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
    expect(client.waitMs()).toBeGreaterThan(0);
    await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
    expect(plane.requests).toHaveLength(1);
  });

  it('pauses for at most half a second, even in a long outage', async () => {
    plane.mode = 503;
    for (let i = 0; i < 20; i++) {
      await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
      expect(client.waitMs()).toBeLessThanOrEqual(500);
      time.advance(client.waitMs());
    }
    expect(plane.requests).toHaveLength(20);
  });

  it('allows one trial call at a time after an outage', async () => {
    plane.mode = 503;
    await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
    time.advance(1000);
    plane.mode = 'ok';
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    const probe = look();
    await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await probe).toMatchObject({ revision: 1 });
    expect(await look()).toMatchObject({ revision: 1 });
    expect(log.lines.map((line) => line.level)).toEqual(['warn', 'info']);
  });

  it('counts concurrent failures as one', async () => {
    plane.mode = 503;
    await Promise.allSettled(Array.from({ length: 10 }, look));
    expect(client.waitMs()).toBeLessThanOrEqual(50);
  });

  it('stays closed if only one request cannot be answered', async () => {
    plane.mode = 500;
    await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
    expect(client.waitMs()).toBe(0);
  });
});

describe('control-plane replies', () => {
  it('are reported once if they reject the gateway', async () => {
    plane.mode = 401;
    for (let i = 0; i < 3; i++) await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
    expect(log.lines).toMatchObject([{ level: 'error', fields: { status: 401 } }]);
  });

  it('are rejected if unreadable', async () => {
    for (const body of ['', 'nonsense', '{"revision":"1","document":null}', '{"document":null}', '\xff\xfe']) {
      const broken = createControlPlaneClient({
        fetch: async () => ({ status: 200, body: Buffer.from(body, 'latin1') }),
        clock: time.clock,
        random: () => 0,
        log,
      });
      await expect(broken.document('config', 'a/b')).rejects.toMatchObject({ code: 'unavailable' });
    }
  });

  it('are requested again if a kept connection turns out to be closed', async () => {
    plane.put('api-key', 'key-a', sampleKey('key-a'));
    let calls = 0;
    const flaky = createControlPlaneClient({
      fetch: (...call) => (calls++ === 0 ? Promise.reject(new Error('socket closed')) : plane.fetch(...call)),
      clock: time.clock,
      random: () => 0,
      log,
    });
    expect(await flaky.document('api-key', 'key-a')).toMatchObject({ revision: 1 });
    expect(log.lines).toEqual([]);
  });
});
