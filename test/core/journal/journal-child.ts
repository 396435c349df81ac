import { fileURLToPath } from 'node:url';
import { Spool } from '../../../core/journal/spool.ts';
import { newMemoryLog } from '../../support/memory-log.ts';
import { sampleRecord } from '../../support/sample-record.ts';

/** Path of this program, for tests to spawn. */
export const journalChildPath = fileURLToPath(import.meta.url);

/**
 * A process that appends records until it is killed (or `count` of them) and says each id on its standard output only after
 * `append` has returned; `lost <id>` when it threw. Arguments: directory, count, segment size.
 */
function main(directory: string, count: number, segmentBytesMax: number): void {
  const clock = { now: Date.now, elapsed: () => performance.now() };
  const spool = new Spool({ directory, bytesMax: 2 ** 40, clock, log: newMemoryLog(), segmentBytesMax });
  const some = () => {
    for (let i = 0; i < 50 && spool.counts.appended + spool.counts.lost < count; i++) {
      const record = sampleRecord({ metadata: { text: 'ä€😀\n'.repeat(i) } });
      try {
        spool.append(record);
        process.stdout.write(`${record.id}\n`);
      } catch {
        process.stdout.write(`lost ${record.id}\n`);
      }
    }
    if (spool.counts.appended + spool.counts.lost < count) setImmediate(some);
  };
  some();
}

if (process.argv[1] === journalChildPath) main(process.argv[2]!, Number(process.argv[3]), Number(process.argv[4]));
