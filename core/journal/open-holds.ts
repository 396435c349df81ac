import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { type CallHold, interruptedRecord } from '../contract/plugin/record/call-hold.ts';
import { type RequestRecord, requestRecord } from '../contract/plugin/record/record.ts';
import { isObject, parseObject } from '../contract/values/json/json.ts';
import { OpenEntries } from '../contract/values/sharing/open-entries.ts';
import { LineBuffer } from './line-buffer.ts';
import { findSegments, namesIn } from './segment.ts';

/** An empty file keeps up to this size, because truncating it more often would cost a system call per turn. */
const emptiedBytes = 256 * 1024;
/** Lines of one turn that need no larger buffer. */
const linesBytes = 64 * 1024;
const namePattern = /^\d{13}-\d{6}\.holds$/;

/**
 * The calls in flight, in a file beside the records: one JSON line per hold, and the id alone once the record of the call is written.
 * Lines of one turn of the event loop share a write. An end waits for the next hold, which saves one of three writes of a call, and is
 * written before its record leaves the newest segment. A file that has grown is replaced by one with the open holds.
 */
export class OpenHolds {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #bytesMax: number;
  readonly #open = new OpenEntries<string, CallHold>();
  /** Holds and ids of ended calls of this turn. They are encoded when they are written, after the calls have been sent. */
  #gathered: (CallHold | string)[] = [];
  readonly #lines = new LineBuffer(linesBytes);
  #hasHold = false;
  #file: { readonly path: string; readonly fd: number; bytes: number } | null = null;
  #files = 0;

  constructor(directory: string, now: () => number, bytesMax = 4 * 1024 * 1024) {
    this.#directory = directory;
    this.#now = now;
    this.#bytesMax = bytesMax;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  open(hold: CallHold): void {
    this.#open.set(hold.id, hold);
    this.#gathered.push(hold);
    this.#hasHold = true;
  }

  /** The record of the call is written in this turn, before these lines. */
  close(id: string): void {
    if (this.#open.delete(id)) this.#gathered.push(id);
  }

  /** Writes the holds with the ends before them. Throws the file system's error. The next call then writes all open holds to a new file. */
  flush(): void {
    if (this.#hasHold) this.flushEnds();
  }

  /** Writes all lines, also if there are only ends. Throws like `flush`. */
  flushEnds(): void {
    if (this.#gathered.length === 0) return;
    this.#encode(this.#gathered);
    this.#gathered = [];
    this.#hasHold = false;
    const file = this.#file;
    if (file === null || file.bytes + this.#lines.length > this.#bytesMax) return this.#replace();
    try {
      this.#write(file);
      if (this.#open.size === 0 && file.bytes > emptiedBytes) {
        ftruncateSync(file.fd, 0);
        file.bytes = 0;
      }
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  /** Removes the file if no call is in flight. Otherwise it stays for the successor. Throws like `flush`. */
  end(): void {
    if (this.#open.size > 0) this.flushEnds();
    const file = this.#file;
    this.#drop();
    this.#gathered = [];
    if (file !== null && this.#open.size === 0) unlinkSync(file.path);
  }

  /** Leaves the file for the successor, without the ends that are not written. */
  leave(): void {
    this.#drop();
    this.#gathered = [];
  }

  #encode(items: Iterable<CallHold | string>): void {
    this.#lines.clear();
    for (const item of items) this.#lines.line(typeof item === 'string' ? item : JSON.stringify(item));
  }

  #replace(): void {
    const before = this.#file;
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const name = `${String(this.#now()).padStart(13, '0')}-${String(this.#files++ % 1_000_000).padStart(6, '0')}.holds`;
    const path = join(this.#directory, name);
    this.#file = { path, fd: openSync(path, 'a', 0o600), bytes: 0 };
    this.#encode(this.#open.values());
    try {
      if (this.#lines.length > 0) this.#write(this.#file);
    } catch (error) {
      this.#drop();
      throw error;
    }
    if (before === null) return;
    closeSync(before.fd);
    unlinkSync(before.path);
  }

  /** Writes the encoded lines. Throws the file system's error. */
  #write(file: { readonly fd: number; bytes: number }): void {
    const { bytes } = this.#lines;
    const written = writeSync(file.fd, bytes);
    if (written !== bytes.length) throw new Error(`only ${written} of ${bytes.length} bytes could be written`);
    file.bytes += written;
  }

  #drop(): void {
    if (this.#file !== null) closeSync(this.#file.fd);
    this.#file = null;
  }
}

/** Calls that were in flight when earlier processes were killed, and the files that list them. */
export interface LeftHolds {
  readonly records: readonly RequestRecord[];
  readonly paths: readonly string[];
}

/**
 * Reads the holds that ended processes have left in these directories. Skips lines that are incomplete or damaged. A call whose
 * record is in the newest segment of its directory has ended.
 */
export function findHolds(directories: readonly string[]): LeftHolds {
  const paths = directories.flatMap((directory) =>
    namesIn(directory)
      .filter((name) => namePattern.test(name))
      .sort()
      .map((name) => join(directory, name)),
  );
  const open = new Map<string, RequestRecord>();
  for (const path of paths) {
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      if (!line.startsWith('{')) open.delete(line);
      else {
        const record = readHold(line);
        if (record !== null) open.set(record.id, record);
      }
    }
  }
  if (open.size > 0) for (const directory of directories) for (const id of newestRecords(directory)) open.delete(id);
  return { records: [...open.values()], paths };
}

/** Returns the ids of the records in the newest segment of a directory. */
function newestRecords(directory: string): string[] {
  const segment = findSegments(directory).at(-1);
  if (segment === undefined) return [];
  return readFileSync(segment.path, 'utf8').split('\n').flatMap(idOf);
}

function idOf(line: string): string[] {
  const id = parseObject(line)?.id;
  return typeof id === 'string' ? [id] : [];
}

function readHold(line: string): RequestRecord | null {
  try {
    const value: unknown = JSON.parse(line);
    const checked = v.safeParse(requestRecord, isObject(value) ? interruptedRecord(value as unknown as CallHold) : null);
    return checked.success ? checked.output : null;
  } catch {
    return null;
  }
}
