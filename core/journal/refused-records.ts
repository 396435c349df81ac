import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';

/** Records that the control plane has rejected, kept for an operator. */
export interface RefusedRecords {
  /** Keeps one record, given as its line in the spool. */
  keep(line: Uint8Array): void;
  /** Keeps the records of a batch (a JSON array) whose id is among `ids`. */
  keepSome(batch: Uint8Array, ids: ReadonlySet<string>): void;
}

const bytesMax = 64 * 1024 * 1024;

/** Creates a store that keeps records as lines of one file, at most 64 MiB. Further records are only logged. Never throws. */
export function createRefusedRecords(path: string, slotDirectory: string, log: Log): RefusedRecords {
  const again = join(slotDirectory, '0000000000000-000000.ndjson');
  return {
    keep(line) {
      append(Buffer.from(line));
      report(1);
    },
    keepSome(batch, ids) {
      const records = JSON.parse(Buffer.from(batch).toString('utf8')) as { id: string }[];
      for (const record of records) if (ids.has(record.id)) append(Buffer.from(JSON.stringify(record)));
      report(ids.size);
    },
  };

  function report(records: number): void {
    log.error(
      { records, file: path },
      `the control plane rejected records; they are stored in ${path}. If the control plane is older than this gateway, update it, then move the file to ${again} and restart the gateway to send them again. Otherwise report them as a defect, with the reason in the log of the control plane.`,
    );
  }

  function append(line: Buffer): void {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      if (sizeOf(path) + line.length < bytesMax) appendFileSync(path, Buffer.concat([line, Buffer.from('\n')]), { mode: 0o600 });
    } catch (error) {
      log.error({ reason: messageOf(error), file: path }, 'cannot store a rejected record in DATA_DIR; it is lost');
    }
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
