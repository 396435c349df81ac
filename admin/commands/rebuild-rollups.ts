import { parseArgs } from 'node:util';
import { loadSettings } from '../../config/load-settings.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';
import { dayMs, hourMs } from '../../core/contract/values/time/durations.ts';
import { utcMs } from '../../core/contract/values/time/utc-time.ts';
import { createLog } from '../../core/log/log.ts';
import { rebuildDay } from '../analytics/rebuild-rollups.ts';
import { type EntityManager, openDatabase } from '../db/open-database.ts';
import { keptSince, readRetention } from '../resources/logs/retention.ts';
import { entities, migrations } from '../tables.ts';
import { runCommand } from './run-command.ts';

/**
 * `npm run rollups:rebuild [-- --from <time>] [-- --to <time>]`: writes the roll-ups of analytics again from the records, in the database of the
 * settings, in whole hours (UTC). Prints each day when it is done. After an interruption, `--from` with the first missing day continues. Exit
 * code 0: done; 2: failed. The service may run meanwhile if its database is PostgreSQL. The embedded database must not be in use.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { from: { type: 'string' }, to: { type: 'string' } } });
  const [from, to] = [timeOf('from', values.from), timeOf('to', values.to)];
  const settings = loadSettings(prepareKeys(process.env));
  const log = createLog({ level: 'warn', name: 'control-plane' });
  const database = await openDatabase(settings, { entities, migrations }, log, { hasQueryTimeout: false });
  try {
    // Hours whose records are deleted, or may be deleted during the run, keep their roll-ups: nothing could rebuild them.
    const kept = keptSince(await readRetention(database.em(), settings, Date.now() + hourMs), null);
    const firstMs = Math.ceil(kept / hourMs) * hourMs;
    if (from !== null && from < firstMs)
      throw new Error(
        `--from: records before ${new Date(firstMs).toISOString()} may be deleted (RECORD_RETENTION_DAYS, log_retention_days)`,
      );
    const { oldest, newest } = await spanOf(database.em());
    const startMs = Math.max(Math.floor((from ?? oldest) / hourMs) * hourMs, firstMs);
    const endMs = Math.min(to ?? newest + 1, newest + 1);
    for (let at = startMs; at < endMs; at = Math.floor(at / dayMs) * dayMs + dayMs) {
      await rebuildDay(database.em(), { fromMs: at, toMs: Math.min(endMs, Math.floor(at / dayMs) * dayMs + dayMs) });
      process.stdout.write(`${new Date(at).toISOString().slice(0, 10)} done\n`);
    }
    return 0;
  } finally {
    await database.close();
  }
}

/** Returns the times of the oldest and the newest record; an empty range if there are none. */
async function spanOf(em: EntityManager): Promise<{ readonly oldest: number; readonly newest: number }> {
  const [row] = await em.execute<[{ oldest: Date | string | null; newest: Date | string | null }]>(
    'select min(created_at) as oldest, max(created_at) as newest from request_records',
  );
  if (row.oldest === null || row.newest === null) return { oldest: 0, newest: -1 };
  return { oldest: new Date(row.oldest).getTime(), newest: new Date(row.newest).getTime() };
}

function timeOf(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const ms = utcMs(text);
  if (Number.isNaN(ms)) throw new Error(`--${name}: ${text} is not a time. Write it as 2026-11-20T00:00:00Z`);
  return ms;
}

runCommand(main);
