import { loadSettings } from '../../config/load-settings.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';
import { counted } from '../../core/contract/values/text/counted.ts';
import { createLog } from '../../core/log/log.ts';
import { openDatabase } from '../db/open-database.ts';
import { verifyLedger } from '../resources/ledger-entries/verify-ledger.ts';
import { readRetention } from '../resources/logs/retention.ts';
import { entities, migrations } from '../tables.ts';
import { runCommand } from './run-command.ts';

/**
 * `npm run ledger:verify`: compares the usage of every budget and policy counter, and the roll-ups, with the sums over records, in the database of
 * the settings, in one snapshot and without changing data. Prints the differences in tokens, requests or nano-USD. Exit code 0: equal; 1: not equal; 2:
 * the check failed. The service may run meanwhile if its database is PostgreSQL. The embedded database must not be in use.
 */
async function main(): Promise<number> {
  const settings = loadSettings(prepareKeys(process.env));
  const log = createLog({ level: 'warn', name: 'control-plane' });
  // Sums over all records take longer than any query of the service.
  const database = await openDatabase(settings, { entities, migrations }, log, { hasQueryTimeout: false });
  try {
    const retention = await readRetention(database.em(), settings, Date.now());
    const { cutOff, records, entries, windows, skipped, differences } = await verifyLedger(database.em(), retention);
    process.stdout.write(
      `as of ${cutOff.toISOString()}: ${counted(records, 'record')}, ${counted(entries, 'entry', 'entries')}, ${counted(windows, 'budget window')}\n`,
    );
    if (skipped > 0) process.stdout.write(`${counted(skipped, 'sum')} not compared, begun before records were deleted\n`);
    for (const { where, expected, found } of differences)
      process.stdout.write(`${where}: ${found}; records sum up to ${expected}\n`);
    process.stdout.write(differences.length === 0 ? 'equal\n' : `${counted(differences.length, 'difference')}\n`);
    return differences.length === 0 ? 0 : 1;
  } finally {
    await database.close();
  }
}

runCommand(main);
