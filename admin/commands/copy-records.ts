import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadSettings } from '../../config/load-settings.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';
import { counted } from '../../core/contract/values/text/counted.ts';
import { utcMs } from '../../core/contract/values/time/utc-time.ts';
import { createLog } from '../../core/log/log.ts';
import { type CopyPosition, copyStoredRecords, sendRefusedAgain } from '../analytics/clickhouse/copy-stored-records.ts';
import { openDatabase } from '../db/open-database.ts';
import { entities, migrations } from '../tables.ts';
import { runCommand } from './run-command.ts';

/** Batches that wait for ClickHouse before the command waits too. */
const waitingMax = 50;

/**
 * `npm run clickhouse:copy [-- --from <time>]`: copies the stored records to ClickHouse, for example those from before ANALYTICS_URL was
 * set. The service must run with ANALYTICS_URL, because it sends the copies. Copying a record twice does no harm. With `--refused` it only
 * resends the batches that ClickHouse refused. Exit code 0: done; 2: failed.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { from: { type: 'string' }, refused: { type: 'boolean', default: false } } });
  const settings = loadSettings(prepareKeys(process.env));
  if (settings.databaseUrl === null) throw new Error('DATABASE_URL must be set: the embedded database is in use by the service');
  if (settings.analyticsUrl === null) throw new Error('ANALYTICS_URL must be set: it is the address of ClickHouse');
  const fromMs = values.from === undefined ? null : utcMs(values.from);
  if (Number.isNaN(fromMs)) throw new Error(`--from: ${values.from} is not a time. Write it as 2026-11-20T00:00:00Z`);
  const database = await openDatabase(settings, { entities, migrations }, createLog({ level: 'warn', name: 'control-plane' }));
  try {
    if (values.refused) {
      process.stdout.write(`${counted(await sendRefusedAgain(database.em()), 'batch', 'batches')} queued again\n`);
      return 0;
    }
    let position: CopyPosition | null = fromMs === null ? null : { at: new Date(fromMs).toISOString(), id: firstId };
    let copied = 0;
    for (let count = 1; count > 0; ) {
      const [row] = await database
        .em()
        .execute<[{ waiting: number | string }]>('select count(*) as waiting from record_copies where refused_for is null');
      if (Number(row.waiting) > waitingMax) {
        await pause(200);
        continue;
      }
      const done = await copyStoredRecords(database.em(), position);
      count = done.count;
      copied += count;
      position = done.last ?? position;
    }
    process.stdout.write(`${counted(copied, 'record')} copied\n`);
    return 0;
  } finally {
    await database.close();
  }
}

const firstId = '00000000-0000-0000-0000-000000000000';

runCommand(main);
