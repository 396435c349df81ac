import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** One file of the spool: whole lines, one record each, oldest first. */
export interface Segment {
  readonly path: string;
  /** Bytes of whole lines in the file. An incomplete line after them is never read. */
  bytes: number;
  /** Bytes that the control plane has confirmed. Starts at 0 again when another process takes the file over. */
  shippedBytes: number;
  /** File handle for appending. Null after the segment was closed. */
  fd: number | null;
}

const namePattern = /^\d{13}-\d{6}\.ndjson$/;

/** Creates a file that no other process has. Names sort by age. Throws the file system's error. */
export function createSegment(directory: string, nowMs: number): Segment {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (let number = 0; ; number += 1) {
    const path = join(directory, `${String(nowMs).padStart(13, '0')}-${String(number).padStart(6, '0')}.ndjson`);
    try {
      return { path, bytes: 0, shippedBytes: 0, fd: openSync(path, 'ax', 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Finds the segments that an ended process left in this directory, oldest first, and removes those that are empty. */
export function findSegments(directory: string): Segment[] {
  const segments: Segment[] = [];
  for (const name of namesIn(directory)
    .filter((name) => namePattern.test(name))
    .sort()) {
    const path = join(directory, name);
    const bytes = statSync(path).size;
    if (bytes === 0) unlinkSync(path);
    else segments.push({ path, bytes, shippedBytes: 0, fd: null });
  }
  return segments;
}

/** Adds whole lines in one write, so that a killed process leaves either all or none of them. Throws if the write failed. */
export function appendLines(segment: Segment, lines: Uint8Array): void {
  if (segment.fd === null) throw new Error('the segment is closed');
  const written = writeSync(segment.fd, lines);
  if (written !== lines.length) throw new Error(`only ${written} of ${lines.length} bytes could be written`);
  segment.bytes += lines.length;
}

/** Empties a segment after all its records are confirmed, so that it can be reused. */
export function emptySegment(segment: Segment): void {
  if (segment.fd === null) return;
  ftruncateSync(segment.fd, 0);
  segment.bytes = 0;
  segment.shippedBytes = 0;
}

/** Closes the segment for appending. Cuts off a torn last line if the disk permits. Never throws. */
export function closeSegment(segment: Segment): void {
  if (segment.fd === null) return;
  try {
    ftruncateSync(segment.fd, segment.bytes);
  } catch {
    // `bytes` is the length of complete lines. A later process skips the torn rest.
  }
  closeSync(segment.fd);
  segment.fd = null;
}

/** Deletes a segment after all its records are confirmed. */
export function deleteSegment(segment: Segment): void {
  closeSegment(segment);
  unlinkSync(segment.path);
}

/** Returns the file names in a directory. Empty if it does not exist. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
