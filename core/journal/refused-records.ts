import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Log } from '../contract/plugin.ts';

/** Records the control plane will never take, kept for a human to look at. */
export interface RefusedRecords {
  /** One record as it stood in the spool. */
  keep(line: Uint8Array): void;
  /** Those records of a batch (a JSON array) whose id is among `ids`. */
  keepSome(batch: Uint8Array, ids: ReadonlySet<string>): void;
}

const bytesMax = 64 * 1024 * 1024;

/** Keeps them as lines of one file, at most 64 MiB; beyond that they are only logged. Never throws. */
export function createRefusedRecords(path: string, log: Log): RefusedRecords {
  return {
    keep: (line) => append(Buffer.from(line)),
    keepSome(batch, ids) {
      const records = JSON.parse(Buffer.from(batch).toString('utf8')) as { id: string }[];
      for (const record of records) if (ids.has(record.id)) append(Buffer.from(JSON.stringify(record)));
      log.error({ records: ids.size }, 'the control plane refuses records: they are set aside');
    },
  };

  function append(line: Buffer): void {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      if (sizeOf(path) + line.length < bytesMax) appendFileSync(path, Buffer.concat([line, Buffer.from('\n')]), { mode: 0o600 });
    } catch (error) {
      log.error({ reason: String(error) }, 'a refused record cannot be set aside');
    }
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
