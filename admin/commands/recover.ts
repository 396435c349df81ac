import { parseArgs } from 'node:util';
import { generateEncryptionKey } from '../../config/generate-encryption-key.ts';
import { loadSettings } from '../../config/load-settings.ts';
import { prepareKeys, previousKeyFile } from '../../config/prepare-keys.ts';
import { counted } from '../../core/contract/values/text/counted.ts';
import { createLog } from '../../core/log/log.ts';
import { openDatabase } from '../db/open-database.ts';
import { entities, migrations } from '../tables.ts';
import { newAdminKey, newClusterKey } from './new-keys.ts';
import { type Replacement, replaceEncryptionKey } from './replace-encryption-key.ts';
import { runCommand } from './run-command.ts';

/**
 * Commands for an operator with access to the database, with the settings of the service:
 *
 * - `npm run admin-key [-- --organisation <id>]` prints a new admin key with every scope, to replace a lost one.
 * - `npm run cluster-key` makes the present CLUSTER_KEY the one of this database.
 * - `npm run encryption-key` makes the present ENCRYPTION_KEY the one of this database instead of ENCRYPTION_KEY_PREVIOUS. With
 *   `-- --generate` it only writes a new key into DATA_DIR, and keeps the earlier one beside it.
 *
 * Those that change the database write an audit entry. With PostgreSQL they work while the service runs. The embedded database must not be in use.
 * Exit code 0: done; 2: not done, with the reason.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { organisation: { type: 'string' }, generate: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  if (positionals[0] === 'encryption-key' && values.generate) return generateKey();
  const settings = loadSettings(prepareKeys(process.env));
  const database = await openDatabase(settings, { entities, migrations }, createLog({ level: 'warn', name: 'control-plane' }));
  try {
    if (positionals[0] === 'cluster-key') {
      await newClusterKey(database, settings);
      process.stdout.write('This CLUSTER_KEY is now the key of this database. Set it on every gateway and control plane.\n');
      return 0;
    }
    if (positionals[0] === 'encryption-key') {
      process.stdout.write(textOf(await replaceEncryptionKey(database, settings)));
      return 0;
    }
    process.stdout.write(`${await newAdminKey(database, settings, values.organisation ?? null)}\n`);
    process.stderr.write('This key is shown once. Existing keys still work; use this key to delete lost ones.\n');
    return 0;
  } finally {
    await database.close();
  }
}

function generateKey(): number {
  const { file, previous } = generateEncryptionKey(process.env);
  process.stdout.write(
    `${file} has a new key, and ${previous} the earlier one. Restart the service, then run \`npm run encryption-key\`. ` +
      'With the embedded database, stop the service, run the command, and start the service.\n',
  );
  return 0;
}

function textOf({ dataKeys, organisations, isRepeated }: Replacement): string {
  const done =
    isRepeated && dataKeys === 0
      ? 'Everything in this database is sealed with ENCRYPTION_KEY already.'
      : `Sealed ${counted(dataKeys, 'data key')} of ${counted(organisations, 'organisation')} with ENCRYPTION_KEY. It is now the key of this database.`;
  return (
    `${done} Remove ENCRYPTION_KEY_PREVIOUS, or the file ${previousKeyFile} in DATA_DIR, from every control plane and gateway, and restart them. ` +
    'Backups from before this command need the earlier key.\n'
  );
}

runCommand(main);
