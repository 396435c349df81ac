import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ControlPlaneClient, createControlPlaneClient } from '../../../core/documents/control-plane-client.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../../support/fakes/fake-control-plane.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { sampleKey } from '../../support/samples/sample-documents.ts';

let plane: FakeControlPlane;
let time: FakeTime;
let log: ReturnType<typeof newMemoryLog>;
let client: ControlPlaneClient;

beforeEach(async () => {
  plane = await startFakeControlPlane();
  time = newFakeTime();
  log = newMemoryLog();
  client = createControlPlaneClient({ fetch: plane.fetch, clock: time.clock, random: () => 0.999, log });
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
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { reason: 'the control plane replied with 503' } },
      { level: 'info' },
    ]);
  });

  it('counts concurrent failures as one', async () => {
    plane.mode = 503;
    await Promise.allSettled(Array.from({ length: 10 }, look));
    expect(client.waitMs()).toBeLessThanOrEqual(50);
  });

  it('stays closed if only one request cannot be served', async () => {
    plane.mode = 500;
    await expect(look()).rejects.toMatchObject({ code: 'unavailable' });
    expect(client.waitMs()).toBe(0);
  });
});

describe('a look-up that may wait, after an outage', () => {
  type Sent = { readonly path: string; reply(status: number): void };
  let sent: Sent[];
  let patient: ControlPlaneClient;
  const lookAt = (id: string) => patient.document('config', `w/${id}`, true);
  /** Lets calls that have been resolved or woken continue. */
  const settle = () => new Promise(setImmediate);
  const absent = { revision: 1, document: null };

  beforeEach(async () => {
    sent = [];
    patient = createControlPlaneClient({
      fetch: (_method, path) =>
        new Promise((resolve) => {
          sent.push({ path, reply: (status) => resolve({ status, body: Buffer.from(JSON.stringify(absent)) }) });
        }),
      ...{ clock: time.clock, timers: time.timers, random: () => 0.999, log },
    });
    const first = patient.document('config', 'w/first');
    sent[0]?.reply(503);
    await expect(first).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is sent at the end of the pause, and the others after its reply', async () => {
    const found = ['a', 'b', 'c'].map(lookAt);
    time.advance(patient.waitMs());
    await settle();
    expect(sent.map(({ path }) => path.slice(-3))).toEqual(['rst', '2Fa']);
    sent[1]?.reply(200);
    await settle();
    expect(sent).toHaveLength(4);
    for (const { reply } of sent) reply(200);
    expect(await Promise.all(found)).toEqual([absent, absent, absent]);
  });

  it('fails with its own trial call, and the next one is sent after the next pause', async () => {
    const found = ['a', 'b'].map(lookAt);
    time.advance(patient.waitMs());
    await settle();
    sent[1]?.reply(503);
    await expect(found[0]).rejects.toMatchObject({ code: 'unavailable' });
    time.advance(patient.waitMs());
    await settle();
    sent[2]?.reply(200);
    expect([await found[1], sent.length]).toEqual([absent, 3]);
  });

  it('fails after a second if the trial call of another look-up gets no reply', async () => {
    const found = ['a', 'b'].map(lookAt);
    time.advance(patient.waitMs());
    await settle();
    time.advance(960);
    await expect(found[1]).rejects.toMatchObject({ code: 'unavailable', detail: expect.stringContaining('a moment ago') });
    expect(sent).toHaveLength(2);
  });

  it('fails at once if a hundred others wait, or if it may not wait', async () => {
    const found = Array.from({ length: 100 }, (_, id) => lookAt(String(id)));
    await expect(lookAt('more')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(patient.document('config', 'w/refresh')).rejects.toMatchObject({ code: 'unavailable' });
    time.advance(patient.waitMs());
    await settle();
    sent[1]?.reply(200);
    await settle();
    for (const { reply } of sent) reply(200);
    await Promise.all(found);
    const again = lookAt('more');
    sent.at(-1)?.reply(200);
    expect(await again).toEqual(absent);
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
