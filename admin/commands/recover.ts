import { parseArgs } from 'node:util';
import { loadSettings } from '../../config/load-settings.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';
import { createLog } from '../../core/log/log.ts';
import { openDatabase } from '../db/open-database.ts';
import { entities, migrations } from '../tables.ts';
import { newAdminKey, newClusterKey } from './new-keys.ts';
import { runCommand } from './run-command.ts';

/**
 * Commands for an operator with access to the database, with the settings of the service:
 *
 * - `npm run admin-key [-- --organisation <id>]` prints a new admin key with every scope, to replace a lost one.
 * - `npm run cluster-key` makes the present CLUSTER_KEY the one of this database.
 *
 * Each writes an audit entry. With PostgreSQL they work while the service runs. The embedded database must not be in use.
 * Exit code 0: done; 2: not done, with the reason.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { organisation: { type: 'string' } }, allowPositionals: true });
  const settings = loadSettings(prepareKeys(process.env));
  const database = await openDatabase(settings, { entities, migrations }, createLog({ level: 'warn', name: 'control-plane' }));
  try {
    if (positionals[0] === 'cluster-key') {
      await newClusterKey(database, settings);
      process.stdout.write('This CLUSTER_KEY is now the key of this database. Set it on every gateway and control plane.\n');
      return 0;
    }
    process.stdout.write(`${await newAdminKey(database, settings, values.organisation ?? null)}\n`);
    process.stderr.write('This key is shown once. Existing keys still work; use this key to delete lost ones.\n');
    return 0;
  } finally {
    await database.close();
  }
}

runCommand(main);
