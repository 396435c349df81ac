import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallHold } from '../../../core/contract/plugin/record/call-hold.ts';
import { type RequestRecord, requestRecord } from '../../../core/contract/plugin/record/record.ts';
import { OpenHolds } from '../../../core/journal/open-holds.ts';
import { Spool } from '../../../core/journal/spool.ts';
import { newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

let root: string;
let directory: string;
const time = newFakeTime();

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-holds-'));
  directory = join(root, '0');
});
afterEach(() => rmSync(root, { recursive: true }));

const openSpool = (of = directory, orphans: string[] = []) => {
  time.advance(1);
  return new Spool({ directory: of, orphans, bytesMax: 1e9, clock: time.clock, log: newMemoryLog() });
};
const newHold = (fields: Partial<CallHold> = {}): CallHold => ({
  id: randomUUID(),
  createdAt: '2026-11-22T06:00:00.000Z',
  method: 'POST',
  path: '/v1/chat/completions',
  provider: 'openai',
  inputTokens: 12,
  reservations: [{ key: 'budget:b', lease: randomUUID(), startMs: 7, units: 40 }],
  ...fields,
});
const filesIn = (of: string, ending: string) => readdirSync(of).filter((name) => name.endsWith(ending));
/** The records that a successor ships, in order. */
function shipped(spool: Spool): RequestRecord[] {
  const records: RequestRecord[] = [];
  for (let segment = spool.next(); segment !== null; segment = spool.next()) {
    const lines = readFileSync(segment.path, 'utf8').split('\n').filter(Boolean);
    records.push(...lines.map((line) => v.parse(requestRecord, JSON.parse(line))));
    spool.confirm(segment, segment.bytes);
  }
  return records;
}

describe('a call in flight', () => {
  it('is on disk when whenSafe calls back', async () => {
    const spool = openSpool();
    const hold = newHold();
    spool.hold(hold);
    await new Promise<void>((resolve) => spool.whenSafe(resolve));
    const [name] = filesIn(directory, '.holds');
    expect(JSON.parse(readFileSync(join(directory, name as string), 'utf8'))).toEqual(hold);
    expect(statSync(join(directory, name as string)).mode & 0o777).toBe(0o600);
  });

  it('gets a record with outcome interrupted from the successor of a killed process', () => {
    const killed = openSpool();
    const [open, ended] = [newHold(), newHold()];
    killed.hold(open);
    killed.hold(ended);
    killed.flush();
    const record = sampleRecord({ id: ended.id });
    killed.append(record);
    killed.flush();

    const successor = openSpool();
    expect(successor.counts.interrupted).toBe(1);
    expect(successor.inheritedIsShipped()).toBe(false);
    const records = shipped(successor);
    expect(records[0]).toEqual(record);
    expect(records.slice(1)).toMatchObject([{ ...open, traceId: open.id, outcome: 'interrupted', status: 503 }]);
    expect(successor.inheritedIsShipped()).toBe(true);
    expect(filesIn(directory, '.holds')).toEqual([]);
  });

  it('is over when its record is on disk: its end is not written on its own', () => {
    const killed = openSpool();
    const hold = newHold();
    killed.hold(hold);
    killed.flush();
    killed.append(sampleRecord({ id: hold.id }));
    killed.flush();
    const [name] = filesIn(directory, '.holds');
    expect(readFileSync(join(directory, name as string), 'utf8').split('\n')).toHaveLength(2);
    const successor = openSpool();
    expect(successor.counts.interrupted).toBe(0);
    expect(shipped(successor).map(({ id, outcome }) => [id, outcome])).toEqual([[hold.id, 'success']]);
  });

  it('is over when its record was shipped, if its process is killed right after that', () => {
    const killed = openSpool();
    const hold = newHold();
    killed.hold(hold);
    killed.flush();
    killed.append(sampleRecord({ id: hold.id }));
    killed.flush();
    expect(shipped(killed)).toHaveLength(1);
    expect(openSpool().counts.interrupted).toBe(0);
  });

  it('is over when its record was shipped or is in an older segment', () => {
    time.advance(1);
    const killed = new Spool({ directory, bytesMax: 1e9, segmentBytesMax: 2500, clock: time.clock, log: newMemoryLog() });
    const [first, second, third] = [newHold(), newHold(), newHold()];
    for (const hold of [first, second, third]) killed.hold(hold);
    killed.flush();
    for (const hold of [first, second]) {
      killed.append(sampleRecord({ id: hold.id }));
      killed.flush();
      if (hold === first) shipped(killed);
    }
    while (filesIn(directory, '.ndjson').length < 2) {
      time.advance(1);
      killed.append(sampleRecord({ id: randomUUID() }));
      killed.flush();
    }
    const successor = openSpool();
    expect(successor.counts.interrupted).toBe(1);
    expect(shipped(successor).filter(({ id }) => [first, second, third].some((hold) => hold.id === id))).toMatchObject([
      { id: second.id, outcome: 'success' },
      { id: third.id, outcome: 'interrupted' },
    ]);
  });

  it('keeps its end for the record that is written with it', () => {
    const killed = openSpool();
    const [first, second] = [newHold(), newHold()];
    for (const hold of [first, second]) killed.hold(hold);
    killed.append(sampleRecord({ id: first.id }));
    killed.flush();
    const segment = killed.next() as NonNullable<ReturnType<Spool['next']>>;
    const shippedBytes = segment.bytes;
    killed.append(sampleRecord({ id: second.id }));
    // The control plane has confirmed the first record while the second waits for its write.
    killed.confirm(segment, shippedBytes);
    expect(shipped(openSpool()).map(({ id, outcome }) => [id, outcome])).toEqual([
      [first.id, 'success'],
      [second.id, 'success'],
    ]);
  });

  it.each(['stops', 'ships its file and is killed'])(
    'becomes interrupted if its record waits for a failing disk when the process %s',
    (end) => {
      let isFull = false;
      const now = () => {
        if (isFull) throw new Error('ENOSPC: a new segment cannot be created');
        return time.clock.now();
      };
      const spool = new Spool({
        directory,
        bytesMax: 1e9,
        segmentBytesMax: 1,
        clock: { ...time.clock, now },
        log: newMemoryLog(),
      });
      const hold = newHold();
      spool.hold(hold);
      spool.append(sampleRecord());
      spool.flush();
      isFull = true;
      spool.append(sampleRecord({ id: hold.id }));
      spool.flush();
      if (end === 'stops') spool.close();
      else shipped(spool);

      const successor = openSpool();
      expect(shipped(successor).filter(({ id }) => id === hold.id)).toMatchObject([{ outcome: 'interrupted' }]);
      expect(filesIn(directory, '.holds')).toEqual([]);
    },
  );

  it('is described by its last hold: a fallback replaces the target before it', () => {
    const killed = openSpool();
    const hold = newHold();
    killed.hold(hold);
    killed.hold({ ...hold, provider: 'anthropic' });
    killed.flush();
    expect(shipped(openSpool())).toMatchObject([{ id: hold.id, provider: 'anthropic' }]);
  });

  it('is found in a file with a torn end and damaged lines', () => {
    const killed = openSpool();
    const [first, last] = [newHold(), newHold()];
    killed.hold(first);
    killed.flush();
    const path = join(directory, filesIn(directory, '.holds')[0] as string);
    appendFileSync(
      path,
      `{"id":"not a uuid"}\n\0\0\0\n{"half\n${JSON.stringify(last)}\n${JSON.stringify(newHold()).slice(0, -9)}`,
    );
    expect(shipped(openSpool()).map(({ id }) => id)).toEqual([first.id, last.id]);
  });

  it('is taken over from a slot that no longer exists, and its directory is removed', () => {
    const orphan = join(root, '5');
    const hold = newHold();
    const killed = openSpool(orphan);
    killed.hold(hold);
    killed.flush();
    expect(shipped(openSpool(directory, [orphan]))).toMatchObject([{ id: hold.id, outcome: 'interrupted' }]);
    expect(readdirSync(root)).toEqual(['0']);
  });

  it('is recorded once if the successor is killed before it has shipped', () => {
    const killed = openSpool();
    const hold = newHold();
    killed.hold(hold);
    killed.flush();
    openSpool();
    expect(shipped(openSpool()).map(({ id }) => id)).toEqual([hold.id]);
  });
});

describe('files of a killed process', () => {
  it('are removed if they are empty', () => {
    for (let i = 0; i < 5; i++) openSpool();
    expect(readdirSync(directory)).toHaveLength(1);
  });

  it('do not exist after a clean end', () => {
    const spool = openSpool();
    const hold = newHold();
    spool.hold(hold);
    spool.flush();
    spool.append(sampleRecord({ id: hold.id }));
    spool.flush();
    shipped(spool);
    spool.close();
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('the holds file', () => {
  it('is replaced by one with all calls in flight after a failed write', () => {
    mkdirSync(directory);
    // Writes to a pipe fail once its reader is gone.
    const path = join(directory, '0000000000001-000000.holds');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const holds = new OpenHolds(directory, () => 1);
    const [first, second, third] = [newHold(), newHold(), newHold()];
    holds.open(first);
    holds.flush();
    closeSync(reader);
    holds.open(second);
    expect(() => holds.flush()).toThrow('EPIPE');
    holds.open(third);
    holds.flush();
    rmSync(path);
    expect(shipped(openSpool()).map(({ id }) => id)).toEqual([first.id, second.id, third.id]);
  });

  it('stays small after many calls, and keeps those in flight', () => {
    mkdirSync(directory);
    const holds = new OpenHolds(directory, () => 1, 20_000);
    const long = newHold();
    holds.open(long);
    for (let i = 0; i < 500; i++) {
      const hold = newHold();
      holds.open(hold);
      holds.flush();
      holds.close(hold.id);
      holds.flush();
    }
    holds.flushEnds();
    const names = filesIn(directory, '.holds');
    expect(names).toHaveLength(1);
    expect(statSync(join(directory, names[0] as string)).size).toBeLessThan(21_000);
    expect(shipped(openSpool()).map(({ id }) => id)).toEqual([long.id]);
  });
});
