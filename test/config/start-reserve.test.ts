import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasSmallDisk, runOnSmallDisk } from '../support/processes/small-disk.ts';

const program = `
  import { statSync, statfsSync, writeFileSync } from 'node:fs';
  import { freeStartReserve, keepStartReserve } from '${join(import.meta.dirname, '../../config/start-reserve.ts')}';

  const { DISK } = process.env;
  const free = () => { const { bavail, bsize } = statfsSync(DISK); return bavail * bsize; };
  const reserved = () => statSync(DISK + '/start-reserve/0', { throwIfNoEntry: false })?.size ?? 0;
  const seen = {};
  keepStartReserve(DISK, 0);
  freeStartReserve(DISK, [0]);
  seen.keptWithSpace = reserved();
  try { writeFileSync(DISK + '/records', Buffer.alloc(8 * 1024 * 1024)); } catch (error) { seen.full = error.code; }
  freeStartReserve(DISK, [1]);
  seen.ofAnotherSlot = free();
  freeStartReserve(DISK, [0]);
  seen.freed = free();
  writeFileSync(DISK + '/start', Buffer.alloc(100_000));
  keepStartReserve(DISK, 0);
  seen.keptOfFullDisk = reserved() > 0.5 * 1024 * 1024;
  seen.leftForRecords = free() >= 256 * 1024;
  keepStartReserve(DISK, 1);
  seen.leftByTwoSlots = free() >= 256 * 1024;
  console.log(JSON.stringify(seen));
`;

describe.skipIf(!hasSmallDisk)('the reserve for a start', () => {
  it('is freed if the disk is full, and taken again except for the space that records need', () => {
    const { stdout } = runOnSmallDisk('"$NODE" --input-type=module --eval "$PROGRAM"', { PROGRAM: program });
    expect(JSON.parse(stdout)).toEqual({
      keptWithSpace: 1024 * 1024,
      full: 'ENOSPC',
      ofAnotherSlot: 0,
      freed: 1024 * 1024,
      keptOfFullDisk: true,
      leftForRecords: true,
      leftByTwoSlots: true,
    });
  });
});
