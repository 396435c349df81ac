import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openHolders } from '../../../core/leases/holders.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-holders-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const open = (slot: number, processes = 2) =>
  openHolders({ directory: join(directory, 'holders'), slot, processes, newId: randomUUID });

it('holders: a process reports its predecessors in the slot until the ledger has confirmed them', () => {
  const first = open(0);
  expect(first.earlier).toEqual([]);
  const second = open(0);
  expect(second.earlier).toEqual([first.own]);
  const third = open(0);
  expect(third.earlier).toEqual([first.own, second.own]);
  third.forget([first.own]);
  expect(third.earlier).toEqual([second.own]);
  expect(open(0).earlier).toEqual([second.own, third.own]);
});

it('holders: slots are separate, and the first process takes over removed slots', async () => {
  const [zero, one] = [open(0), open(1)];
  expect(open(1).earlier).toEqual([one.own]);
  const alone = open(0, 1);
  expect(alone.earlier.slice(0, 2)).toEqual([zero.own, one.own]);
  expect(alone.earlier).toHaveLength(3);
  expect(await readdir(join(directory, 'holders'))).toEqual(['0']);
});
