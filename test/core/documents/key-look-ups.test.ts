import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createControlPlaneClient } from '../../../core/documents/control-plane-client.ts';
import { DocumentStore } from '../../../core/documents/document-store.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../../support/fakes/fake-control-plane.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newGate } from '../../support/gate.ts';
import { sampleKey } from '../../support/samples/sample-documents.ts';
import { until } from '../../support/until.ts';

let plane: FakeControlPlane;
let store: DocumentStore;
let time: FakeTime;

beforeEach(async () => {
  plane = await startFakeControlPlane();
  const log = newMemoryLog();
  time = newFakeTime();
  const { clock, timers } = time;
  const client = createControlPlaneClient({ fetch: plane.fetch, clock, timers, random: () => 0.5, log, timeoutMs: 1000 });
  store = new DocumentStore({ client, clock, log, entriesMax: 10_000 });
});
afterEach(() => plane.stop());

const names = (count: number) => Array.from({ length: count }, (_, n) => `key-${n}`);

function put(ids: readonly string[]): void {
  for (const id of ids) plane.put('api-key', id, sampleKey(id));
}

/** Requests all of them in one turn. */
const askFor = (ids: readonly string[]) => Promise.allSettled(ids.map(async (id) => store.get('api-key', id)));
const idsOf = (found: PromiseSettledResult<{ id: string } | null>[]) =>
  found.map((outcome) => (outcome.status === 'fulfilled' ? (outcome.value?.id ?? null) : 'failed'));

describe('look-ups of unknown keys', () => {
  it('are combined if they arrive while two calls are in flight', async () => {
    const ids = names(450);
    put(ids);
    expect(idsOf(await askFor(ids))).toEqual(ids);
    expect(plane.requests).toEqual([
      '/internal/v1/documents/api-key/key-0',
      '/internal/v1/documents/api-key/key-1',
      ...Array.from({ length: 3 }, () => '/internal/v1/api-keys'),
    ]);
  });

  it('wait briefly for each other while more keep arriving', async () => {
    const ids = names(18);
    put(ids);
    const alone = (found: readonly string[]) => found.map((id) => `/internal/v1/documents/api-key/${id}`);
    for (const id of ids.slice(0, 10)) await store.get('api-key', id);
    expect(plane.requests).toEqual(alone(ids.slice(0, 10)));
    const together = [];
    for (const id of ids.slice(10, 14)) {
      together.push(store.get('api-key', id));
      await setImmediate();
    }
    expect(plane.requests).toHaveLength(10);
    time.advance(3);
    await Promise.all(together);
    expect(plane.requests.slice(10)).toEqual(['/internal/v1/api-keys']);
    time.advance(25);
    for (const id of ids.slice(14)) await store.get('api-key', id);
    expect(plane.requests.slice(11)).toEqual(alone(ids.slice(14)));
  });

  it('distinguish missing keys from existing ones', async () => {
    const ids = names(20);
    put(ids.filter((_, n) => n % 3 !== 0));
    expect(idsOf(await askFor(ids))).toEqual(ids.map((id, n) => (n % 3 === 0 ? null : id)));
    expect(store.get('api-key', 'key-9')).toBeNull();
  });

  it('are sent one by one if the combined call fails', async () => {
    const ids = names(12);
    put(ids);
    plane.refuseText = 'key-7';
    expect(idsOf(await askFor(ids))).toEqual(ids);
    expect(plane.requests.filter((path) => path.startsWith('/internal/v1/documents/'))).toHaveLength(12);
  });

  it('wait together while the control plane is away, and fail with one call', async () => {
    put(names(50));
    plane.mode = 503;
    const asked = askFor(names(50));
    await until(() => time.waiting().length === 1, { what: 'the two calls in flight to fail' });
    time.advance(1000);
    expect(new Set(idsOf(await asked))).toEqual(new Set(['failed']));
    expect(plane.requests).toHaveLength(3);
  });

  it('are repeated for keys that change during the reply', async () => {
    const ids = names(6);
    put(ids);
    const gate = newGate();
    for (let call = 0; call < 3; call += 1) plane.holdNext(gate.opened);
    const first = [plane.arrival(), plane.arrival()];
    const found = askFor(ids);
    await Promise.all(first);
    store.apply(plane.put('api-key', 'key-4', sampleKey('key-4', { status: 'exhausted' })));
    gate.open();
    await found;
    expect(await store.get('api-key', 'key-4')).toMatchObject({ status: 'exhausted' });
  });
});
