import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openHolders } from '../../../core/leases/holders.ts';
import { startLeases } from '../../../core/leases/start-leases.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { until } from '../../support/until.ts';

it('leases: those of an earlier process are released after its records, and again a minute later for requests that were late', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-holders-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const open = () => openHolders({ directory, slot: 0, processes: 1, newId: randomUUID });
  const killed = open().own;
  const holders = open();
  const time = newFakeTime();
  const released: string[][] = [];
  let areIn = false;
  const leases = startLeases({
    ...{ clock: time.clock, timers: time.timers, log: newMemoryLog(), newId: randomUUID, holders },
    earlierRecordsAreIn: () => areIn,
    async fetch(_method, _path, body) {
      released.push((JSON.parse(Buffer.from(body as Uint8Array).toString()) as { endedHolders: string[] }).endedHolders);
      return { status: 200, body: Buffer.from('{"grants":[]}') };
    },
  });
  time.advance(5_000);
  expect(released).toEqual([]);
  areIn = true;
  time.advance(100);
  await until(() => time.waiting().includes(60_000), { what: 'the wait for the second release' });
  expect(released).toEqual([[killed]]);
  // A process that is started now still has to release them.
  expect(holders.earlier).toEqual([killed]);
  time.advance(60_000);
  await until(() => holders.earlier.length === 0, { what: 'the end of the releases' });
  expect(released).toEqual([[killed], [killed]]);
  expect(open().earlier).toEqual([holders.own]);
  await leases.close();
});
