import { fileURLToPath } from 'node:url';
import { realClock } from '../../../core/contract/values/time/clock.ts';
import { Spool } from '../../../core/journal/spool.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

/** Path of this program, for tests to spawn. */
export const journalChildPath = fileURLToPath(import.meta.url);

/**
 * A process that appends records until it is killed (or `count` of them), up to fifty in a turn, and says each id on its standard
 * output only after `whenSafe` has called back; `lost <id>` for those that the disk did not take. Arguments: directory, count, segment size.
 */
function main(directory: string, count: number, segmentBytesMax: number): void {
  const spool = new Spool({ directory, bytesMax: 2 ** 40, clock: realClock, log: newMemoryLog(), segmentBytesMax });
  let said = 0;
  const some = () => {
    const ids: string[] = [];
    for (let i = 0; i < 50 && said + ids.length < count; i++) {
      const record = sampleRecord({ metadata: { text: 'ä€😀\n'.repeat(i) } });
      spool.append(record);
      ids.push(record.id);
    }
    spool.whenSafe(() => {
      const lost = spool.counts.appended < said + ids.length;
      for (const id of ids) process.stdout.write(lost ? `lost ${id}\n` : `${id}\n`);
      said += ids.length;
      if (said < count) setImmediate(some);
    });
  };
  some();
}

if (process.argv[1] === journalChildPath) main(process.argv[2]!, Number(process.argv[3]), Number(process.argv[4]));
