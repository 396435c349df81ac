import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { type RunningJournal, startJournal } from '../../../core/journal/start-journal.ts';
import { type FakeControlPlane, startFakeControlPlane } from '../../support/fakes/fake-control-plane.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { until } from '../../support/until.ts';
import { journalChildPath } from './journal-child.ts';

let plane: FakeControlPlane;
let time: FakeTime;
let dataDir: string;
let log: ReturnType<typeof newMemoryLog>;
let journals: RunningJournal[];

beforeEach(async () => {
  plane = await startFakeControlPlane();
  time = newFakeTime();
  dataDir = mkdtempSync(join(tmpdir(), 'svc-journal-'));
  log = newMemoryLog();
  journals = [];
});
afterEach(async () => {
  for (const journal of journals) await journal.shipper.stop();
  await plane.stop();
  rmSync(dataDir, { recursive: true });
});

function start(slot = 0, gatewayProcesses = 1, clock = time.clock): RunningJournal {
  const journal = startJournal({
    settings: { dataDir, spoolBytesMax: 1e9, gatewayProcesses },
    slot,
    fetch: plane.fetch,
    clock,
    random: () => 0.5,
    log,
    timers: time.timers,
    restFactor: 0,
  });
  journals.push(journal);
  return journal;
}

const spoolFiles = (slot = 0) => readdirSync(join(dataDir, 'spool', String(slot)));
const ids = (records: readonly RequestRecord[]) => records.map((record) => record.id).sort();
const storedIds = () => [...plane.records.keys()].sort();
const append = (journal: RunningJournal, count: number): RequestRecord[] =>
  Array.from({ length: count }, () => {
    const record = sampleRecord();
    journal.append(record);
    journal.spool.flush();
    return record;
  });

describe('the shipper', () => {
  it('sends a record unchanged within 200 ms, and then deletes it', async () => {
    const journal = start();
    const record = sampleRecord({ metadata: { text: 'ä€😀\n,\u2028]"' } });
    journal.append(record);
    journal.spool.flush();
    expect(time.waiting()[0]).toBeLessThanOrEqual(200);
    time.advance(200);
    await until(() => plane.records.size === 1);
    expect(plane.records.get(record.id)).toEqual(record);
    await until(() => journal.spool.backlog().bytes === 0);
  });

  it('sends later records if a file of the spool was deleted, and counts the loss', async () => {
    const journal = start();
    append(journal, 1);
    rmSync(join(dataDir, 'spool'), { recursive: true });
    time.advance(200);
    await until(() => log.lines.some(({ message }) => message.includes('was deleted')));
    expect([journal.spool.counts.lost, journal.spool.backlog().bytes]).toEqual([1, 0]);
    const [later] = append(journal, 1) as [RequestRecord];
    expect(spoolFiles()).toContainEqual(expect.stringContaining('.ndjson'));
    await until(() => time.waiting().length > 0);
    time.advance(200);
    await until(() => plane.records.has(later.id));
  });

  it('sends concurrent records in one batch', async () => {
    const journal = start();
    const records = append(journal, 120);
    time.advance(200);
    await until(() => plane.records.size === 120);
    expect(plane.requests).toHaveLength(1);
    expect(storedIds()).toEqual(ids(records));
  });

  it('sends batches of at most 500 without a pause between them', async () => {
    const journal = start();
    append(journal, 1800);
    time.advance(200);
    await until(() => plane.records.size === 1800);
    expect(plane.requests).toHaveLength(4);
    expect(plane.duplicates).toBe(0);
  });

  it('sends records that arrive during a batch with the next one', async () => {
    const journal = start();
    append(journal, 1);
    const arrived = plane.arrival();
    time.advance(200);
    await arrived;
    append(journal, 5);
    await until(() => time.waiting().length > 0);
    time.advance(200);
    await until(() => plane.records.size === 6);
    expect(plane.duplicates).toBe(0);
  });

  it('sends nothing if there are no records', async () => {
    const journal = start();
    time.advance(60_000);
    append(journal, 1);
    await until(() => time.waiting().length > 0);
    time.advance(200);
    await until(() => journal.spool.backlog().bytes === 0);
    time.advance(60_000);
    expect(time.waiting()).toEqual([]);
    expect(plane.requests).toHaveLength(1);
  });
});

describe('the shipper while the control plane is away', () => {
  it('keeps every record, retries within a second, and ships all after the outage', async () => {
    const journal = start();
    plane.mode = 503;
    const records = append(journal, 1200);
    time.advance(200);
    for (let failures = 1; failures <= 8; failures++) {
      await until(() => journal.shipper.counts.failures === failures && time.waiting().length > 0);
      expect(time.waiting()[0]).toBeLessThanOrEqual(1000);
      if (failures < 8) time.advance(1000);
    }
    plane.mode = 'ok';
    time.advance(1000);
    await until(() => plane.records.size === 1200);
    expect(storedIds()).toEqual(ids(records));
    expect(log.lines.filter((line) => line.level === 'warn')).toHaveLength(1);
  });

  it('survives refused connections', async () => {
    const journal = start();
    const records = append(journal, 3);
    await plane.stop();
    time.advance(200);
    await until(() => journal.shipper.counts.failures === 1 && time.waiting().length > 0);
    await plane.restart();
    time.advance(1000);
    await until(() => plane.records.size === 3);
    expect(storedIds()).toEqual(ids(records));
  });
});

describe('records rejected by the control plane', () => {
  it('are set aside without delaying others', async () => {
    const journal = start();
    const records = append(journal, 300);
    const [bad, worse] = [records[17]!, records[200]!];
    plane.rejectIds.add(bad.id);
    plane.refuseText = worse.id;
    time.advance(200);
    await until(() => plane.records.size === 298);
    await until(() => journal.spool.backlog().bytes === 0);
    const kept = readFileSync(join(dataDir, 'spool', 'refused-0.ndjson'), 'utf8')
      .trim()
      .split('\n');
    expect(ids(kept.map((line) => JSON.parse(line)))).toEqual([bad.id, worse.id].sort());
    expect(journal.shipper.counts.refused).toBe(2);
  });

  it('are reported with their file and a command that sends them again', async () => {
    const journal = start();
    const [bad] = append(journal, 1);
    plane.rejectIds.add(bad!.id);
    time.advance(200);
    await until(() => journal.shipper.counts.refused === 1);
    const file = join(dataDir, 'spool', 'refused-0.ndjson');
    const again = join(dataDir, 'spool', '0', '0000000000000-000000.ndjson');
    const [line] = log.lines.filter(({ level }) => level === 'error');
    expect(line).toMatchObject({ fields: { records: 1, file }, message: expect.stringContaining(`move the file to ${again}`) });
    await journal.close(0);
    renameSync(file, again);
    plane.rejectIds.clear();
    start();
    time.advance(200);
    await until(() => plane.records.has(bad!.id));
    expect(storedIds()).toEqual([bad!.id]);
  });
});

describe('the shipper after the end of a process', () => {
  it('ships the records of the previous process in the slot, without its unfinished line', async () => {
    const directory = join(dataDir, 'spool', '0');
    mkdirSync(directory, { recursive: true });
    const whole = [sampleRecord(), sampleRecord()];
    const path = join(directory, '1700000000000-000000.ndjson');
    for (const record of whole) appendFileSync(path, `${JSON.stringify(record)}\n`);
    appendFileSync(path, JSON.stringify(sampleRecord()).slice(0, 400));
    const journal = start();
    time.advance(200);
    await until(() => journal.spool.backlog().bytes === 0);
    expect(storedIds()).toEqual(ids(whole));
    expect(journal.shipper.counts.torn).toBe(1);
    expect(spoolFiles()).not.toContain('1700000000000-000000.ndjson');
  });

  it('ships slots that no longer exist, in the first slot only', async () => {
    for (const slot of [1, 2]) {
      mkdirSync(join(dataDir, 'spool', String(slot)), { recursive: true });
      const line = `${JSON.stringify(sampleRecord({ path: `/of/${slot}` }))}\n`;
      writeFileSync(join(dataDir, 'spool', String(slot), '1700000000000-000000.ndjson'), line);
    }
    start(1, 2);
    time.advance(200);
    await until(() => plane.records.size === 1);
    expect([...plane.records.values()][0]?.path).toBe('/of/1');
    start(0, 2);
    time.advance(200);
    await until(() => plane.records.size === 2);
    await until(() => spoolFiles(2).length === 0);
  });

  it('ships records again that were shipped but not deleted, and they are stored once', async () => {
    const first = start();
    const records = append(first, 10);
    for (const record of records.slice(0, 4)) plane.records.set(record.id, record);
    await first.shipper.stop();
    const second = start();
    time.advance(200);
    await until(() => second.spool.backlog().bytes === 0);
    expect(plane.records.size).toBe(10);
    expect(second.shipper.counts).toMatchObject({ inserted: 6, duplicates: 4 });
  });

  it('loses no confirmed record in a kill at any moment, and stores none twice', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const directory = join(dataDir, 'spool', '0');
      const child = spawn(process.execPath, [journalChildPath, directory, '1000000', '300000'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const said: string[] = [];
      child.stdout.on('data', (chunk) => {
        said.push(String(chunk));
        if (said.join('').length > 37 * (150 + round * 333)) child.kill('SIGKILL');
      });
      await once(child, 'close');
      acknowledged.push(...said.join('').split('\n').slice(0, -1));
    }
    const journal = start();
    time.advance(200);
    await until(() => journal.spool.backlog().bytes === 0, { deadlineMs: 30_000 });
    expect(acknowledged.length).toBeGreaterThan(300);
    expect(acknowledged.filter((id) => !plane.records.has(id))).toEqual([]);
    expect(plane.duplicates).toBe(0);
  });
});

describe('the shipper at shutdown', () => {
  it('ships everything at once, and leaves no file', async () => {
    const journal = start();
    append(journal, 700);
    await journal.close(10_000);
    expect(plane.records.size).toBe(700);
    expect(spoolFiles()).toEqual([]);
  });

  it('leaves records on disk for the next start if there is no time', async () => {
    plane.mode = 'stall';
    // The deadline is a timer. The shipper's own pauses are not under test here.
    const journal = start();
    const records = append(journal, 5);
    const closing = journal.close(300);
    await until(() => plane.requests.length === 1);
    time.advance(300);
    await closing;
    plane.mode = 'ok';
    const next = start();
    time.advance(200);
    await until(() => next.spool.backlog().bytes === 0);
    expect(storedIds()).toEqual(ids(records));
  });
});

describe('the shipper with a backlog', () => {
  it('pauses three times as long as a full batch took, except at shutdown', async () => {
    let tookMs = 0;
    const slow: typeof plane.fetch = async (...call) => {
      const reply = await plane.fetch(...call);
      time.advance(tookMs);
      return reply;
    };
    const journal = startJournal({
      settings: { dataDir, spoolBytesMax: 1e9, gatewayProcesses: 1 },
      slot: 0,
      fetch: slow,
      clock: time.clock,
      random: () => 0.5,
      log,
      timers: time.timers,
    });
    append(journal, 1200);
    tookMs = 100;
    time.advance(time.waiting()[0] as number);
    await until(() => plane.records.size === 500);
    await until(() => time.waiting().includes(300));
    expect(plane.records.size).toBe(500);
    time.advance(300);
    await until(() => plane.records.size === 1000);
    await until(() => time.waiting().includes(300));
    await journal.shipper.stop();
    expect(plane.records.size).toBe(1000);
    journal.spool.close();
  });
});
