import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const reserveBytes = 1024 * 1024;
const chunkBytes = 64 * 1024;
/**
 * Free space below which a start uses the reserve, and which the reserve leaves free. A start writes some kilobytes, and a record for each call
 * that was interrupted.
 */
const scarceBytes = 256 * 1024;

/**
 * Frees the reserves of these slots if the disk of DATA_DIR is full. Without this space a gateway could not start, and the records that fill
 * the disk would never be sent. Never throws.
 */
export function freeStartReserve(dataDir: string, slots: readonly number[]): void {
  try {
    if (freeBytes(dataDir) >= scarceBytes) return;
    for (const slot of slots) rmSync(pathOf(dataDir, slot), { force: true });
  } catch {
    // The start continues, and reports what it cannot read or write.
  }
}

/**
 * Takes the reserve of this slot for its next start, or as much of it as the disk has beyond the space that records of requests need until they
 * are sent. Never throws.
 */
export function keepStartReserve(dataDir: string, slot: number): void {
  try {
    mkdirSync(join(dataDir, folder), { recursive: true, mode: 0o700 });
    const file = openSync(pathOf(dataDir, slot), 'a', 0o600);
    try {
      // Random, because some file systems compress what they store.
      for (let bytes = fstatSync(file).size; bytes < reserveBytes && freeBytes(dataDir) >= scarceBytes + chunkBytes; )
        bytes += writeSync(file, randomBytes(chunkBytes));
    } finally {
      // Throws too: NFS reports a full disk here.
      closeSync(file);
    }
  } catch {
    // A full disk. What was written is part of the reserve.
  }
}

function freeBytes(dataDir: string): number {
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize;
}

const folder = 'start-reserve';
const pathOf = (dataDir: string, slot: number): string => join(dataDir, folder, String(slot));
