import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as v from 'valibot';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RequestRecord, requestRecord } from '../../../core/contract/plugin/record/record.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { Spool, type SpoolOptions } from '../../../core/journal/spool.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { journalChildPath } from './journal-child.ts';

let root: string;
let directory: string;
let time: FakeTime;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-spool-'));
  directory = join(root, '0');
  time = newFakeTime();
});
afterEach(() => rmSync(root, { recursive: true }));

const openSpool = (changes: Partial<SpoolOptions> = {}) =>
  new Spool({ directory, bytesMax: 1e9, clock: time.clock, log: newMemoryLog(), ...changes });
/** Appends and writes at once, as at the end of a turn. */
const put = (spool: Spool, record: RequestRecord) => {
  spool.append(record);
  spool.flush();
};
const files = (of = directory) => readdirSync(of).sort();
const linesOnDisk = (of = directory) =>
  files(of).flatMap((name) => readFileSync(join(of, name), 'utf8').split('\n').filter(Boolean));
/** Records of complete lines: SIGKILL may end a process inside a write(2), and readers skip the line it left unfinished. */
const completeRecordsOnDisk = () =>
  files()
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1))
    .map((line) => JSON.parse(line) as RequestRecord);
const recordsOnDisk = () => linesOnDisk().map((line) => JSON.parse(line) as RequestRecord);

describe('an appended record', () => {
  it('is on disk when whenSafe calls back, complete and unchanged', async () => {
    const spool = openSpool();
    const record = sampleRecord({ metadata: { text: 'new\nline, ä€😀, \u2028 and "quotes"' } });
    spool.append(record);
    await new Promise<void>((resolve) => spool.whenSafe(resolve));
    expect(recordsOnDisk()).toEqual([record]);
    expect(spool.backlog().bytes).toBe(statSync(join(directory, files()[0]!)).size);
  });

  it('is readable by its owner only', () => {
    put(openSpool(), sampleRecord());
    expect(statSync(join(directory, files()[0]!)).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it('goes to a new file if the current one is full', () => {
    const spool = openSpool({ segmentBytesMax: 2500 });
    const records = Array.from({ length: 7 }, () => sampleRecord());
    for (const record of records) put(spool, record);
    expect(files().length).toBeGreaterThan(3);
    expect(recordsOnDisk().map((record) => record.id)).toEqual(records.map((record) => record.id));
  });

  it('is shortened if texts are too long, and still matches the schema', () => {
    const spool = openSpool();
    const long = 'x'.repeat(300_000);
    put(spool, sampleRecord({ rawUsage: { long }, errorMessage: long, path: `/${long}`, metadata: { long }, inputTokens: 7 }));
    const [record] = recordsOnDisk();
    expect(linesOnDisk()[0]!.length).toBeLessThan(20_000);
    expect(v.parse(requestRecord, record)).toMatchObject({ inputTokens: 7, rawUsage: null });
  });
});

describe('the limit of the spool', () => {
  it('is logged once when it is reached, and once when there is room again', () => {
    const log = newMemoryLog();
    const spool = openSpool({ bytesMax: 10_000, log });
    while (spool.healthy()) put(spool, sampleRecord());
    for (let i = 0; i < 10; i++) spool.healthy();
    for (let next = spool.next(); next !== null; next = spool.next()) spool.confirm(next, next.bytes);
    expect(spool.healthy()).toBe(true);
    expect(log.lines.map((line) => line.level)).toEqual(['error', 'info']);
  });

  it('rejects requests slightly before it, and records at it', () => {
    const spool = openSpool({ bytesMax: 200_000 });
    while (spool.healthy()) put(spool, sampleRecord());
    const refusedFrom = spool.counts.appended;
    expect(() => {
      for (let i = 0; i < 200; i++) put(spool, sampleRecord());
    }).toThrow(GatewayError);
    expect(spool.counts.appended).toBeGreaterThan(refusedFrom);
    spool.flush();
    expect(spool.backlog().bytes).toBeLessThanOrEqual(200_000);
    expect(linesOnDisk()).toHaveLength(spool.counts.appended);
    expect(spool.counts.lost).toBe(1);
  });

  it('has room again as soon as records were shipped', () => {
    const spool = openSpool({ bytesMax: 20_000, segmentBytesMax: 5000 });
    while (spool.healthy()) put(spool, sampleRecord());
    const oldest = spool.next()!;
    spool.confirm(oldest, oldest.bytes);
    expect(spool.healthy()).toBe(true);
    expect(files()).not.toContain(oldest.path.split('/').at(-1));
  });
});

describe('shipped records', () => {
  it('come from the disk, including the current file', () => {
    const spool = openSpool();
    put(spool, sampleRecord());
    const segment = spool.next()!;
    spool.confirm(segment, segment.bytes);
    expect(spool.next()).toBeNull();
    expect(linesOnDisk()).toEqual([]);
    const later = sampleRecord();
    put(spool, later);
    expect(recordsOnDisk()).toEqual([later]);
    expect(spool.backlog().bytes).toBe(statSync(segment.path).size);
  });

  it('leave no file at the end', () => {
    const spool = openSpool();
    put(spool, sampleRecord());
    const segment = spool.next()!;
    spool.confirm(segment, segment.bytes);
    spool.close();
    expect(files()).toEqual([]);
  });
});

describe('the start of the spool', () => {
  it('takes over files of ended processes of the slot, oldest first, and of removed slots', () => {
    const first = sampleRecord();
    const second = sampleRecord();
    put(openSpool(), first);
    time.advance(1);
    put(openSpool(), second);
    const orphan = join(root, '5');
    mkdirSync(orphan);
    writeFileSync(join(orphan, '1700000000000-000000.ndjson'), `${JSON.stringify(sampleRecord())}\n`);
    const spool = openSpool({ orphans: [orphan] });
    const paths: string[] = [];
    for (let next = spool.next(); next; next = spool.next()) {
      paths.push(next.path);
      spool.confirm(next, next.bytes);
    }
    expect(paths).toHaveLength(3);
    expect(paths[0]).toContain(orphan);
    expect(readdirSync(orphan)).toEqual([]);
  });

  it('never writes into a file of another process', () => {
    const left = sampleRecord();
    put(openSpool(), left);
    put(openSpool(), sampleRecord());
    expect(files()).toHaveLength(2);
  });

  it('keeps files of other programs', () => {
    mkdirSync(directory, { recursive: true });
    appendFileSync(join(directory, 'notes.txt'), 'not a segment');
    expect(openSpool().next()).toBeNull();
    expect(files()).toContain('notes.txt');
  });
});

describe('a process killed with SIGKILL while it appends', () => {
  it('loses no confirmed record, and writes none twice', async () => {
    for (let round = 0; round < 5; round++) {
      const child = spawn(process.execPath, [journalChildPath, directory, '1000000', '200000'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const said: string[] = [];
      child.stdout.on('data', (chunk) => {
        said.push(String(chunk));
        if (said.join('').length > 37 * (150 + round * 333)) child.kill('SIGKILL');
      });
      await once(child, 'close');
      expect(child.signalCode).toBe('SIGKILL');
      // The last line may be incomplete, because the process was killed.
      const acknowledged = said.join('').split('\n').slice(0, -1);
      expect(acknowledged.length).toBeGreaterThan(100);
      const whole = completeRecordsOnDisk().map((record) => record.id);
      expect(new Set(whole).size).toBe(whole.length);
      const onDisk = new Set(whole);
      expect(acknowledged.filter((id) => !onDisk.has(id))).toEqual([]);
    }
  });
});

describe('a disk with partial writes', () => {
  it('has no torn line and no record that is both rejected and stored', async () => {
    // No file of this process may grow beyond 20 KiB: the write across that line is short, the next one fails.
    const command = `ulimit -f 20; exec "${process.execPath}" "${journalChildPath}" "${directory}" 400 1000000`;
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const lines = said.split('\n').filter(Boolean);
    const lost = lines.filter((line) => line.startsWith('lost '));
    const kept = lines.filter((line) => !line.startsWith('lost '));
    expect(lines).toHaveLength(400);
    expect(lost.length).toBeGreaterThan(0);
    expect(recordsOnDisk().map((record) => record.id)).toEqual(kept);
  });
});

describe('a failing disk', () => {
  it('makes the spool unhealthy until a trial a second later succeeds', () => {
    const log = newMemoryLog();
    const spool = openSpool({ log, segmentBytesMax: 1000 });
    put(spool, sampleRecord());
    // The directory is gone, so the next segment cannot be created. A file with its name prevents a new directory.
    rmSync(directory, { recursive: true });
    writeFileSync(directory, '');
    const waiting = sampleRecord();
    put(spool, waiting);
    expect(spool.healthy()).toBe(false);
    time.advance(1001);
    expect(spool.healthy()).toBe(false);
    rmSync(directory);
    expect(spool.healthy()).toBe(false);
    time.advance(1001);
    expect(spool.healthy()).toBe(true);
    // The trial leaves no file.
    expect(files()).toHaveLength(1);
    const record = sampleRecord();
    put(spool, record);
    expect(recordsOnDisk()).toEqual([waiting, record]);
    expect(spool.counts).toMatchObject({ appended: 3, lost: 0 });
    expect(log.lines.map((line) => line.level)).toEqual(['error', 'info']);
    expect(log.lines[0]).toMatchObject({ message: expect.stringContaining('DATA_DIR'), fields: { directory } });
  });

  it('leaves the records of calls in progress in memory, up to a mebibyte, and writes them when it works again', async () => {
    const spool = openSpool({ segmentBytesMax: 1000 });
    put(spool, sampleRecord());
    rmSync(directory, { recursive: true });
    writeFileSync(directory, '');
    const waiting: RequestRecord[] = [];
    let called = 0;
    const refusal = () => {
      for (;;) {
        const record = sampleRecord({ metadata: { text: 'x'.repeat(50_000) } });
        try {
          put(spool, record);
        } catch (error) {
          return error;
        }
        waiting.push(record);
        spool.whenSafe(() => called++);
      }
    };
    expect(refusal()).toMatchObject({ code: 'unavailable' });
    expect(waiting.length).toBeGreaterThan(15);
    expect(called).toBe(waiting.length);
    expect(spool.counts).toMatchObject({ appended: 1, lost: 1 });
    rmSync(directory);
    time.advance(1001);
    expect(spool.healthy()).toBe(true);
    expect(recordsOnDisk()).toEqual(waiting);
    expect(spool.counts).toMatchObject({ appended: 1 + waiting.length, lost: 1 });
  });

  it('is tried a second after each failure, also without requests', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const pass = (ms: number) => {
      time.advance(ms);
      vi.advanceTimersByTime(ms);
    };
    const spool = openSpool({ segmentBytesMax: 1 });
    put(spool, sampleRecord());
    rmSync(directory, { recursive: true });
    writeFileSync(directory, '');
    const records = [sampleRecord(), sampleRecord()];
    for (const record of records) {
      put(spool, record);
      pass(600);
    }
    rmSync(directory);
    pass(1001);
    expect(recordsOnDisk()).toEqual(records);
  });
});
