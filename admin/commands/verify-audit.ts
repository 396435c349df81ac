import { parseArgs } from 'node:util';
import { loadSettings } from '../../config/load-settings.ts';
import { prepareKeys } from '../../config/prepare-keys.ts';
import { counted } from '../../core/contract/values/text/counted.ts';
import { createLog } from '../../core/log/log.ts';
import { anchorFile, readAnchors } from '../audit/anchors.ts';
import { verifyChain } from '../audit/verify-chain.ts';
import { openDatabase } from '../db/open-database.ts';
import { organisations } from '../resources/organisations/entity.ts';
import { readKeptKeys } from '../secrets/kept-keys.ts';
import { entities, migrations } from '../tables.ts';
import { runCommand } from './run-command.ts';

/**
 * `npm run audit:verify [-- --organisation <id>] [--anchors <file>]`: checks the audit chain of every organisation, or of one, in
 * the database of the settings. Prints one line per chain. Exit code 0: intact; 1: not intact; 2: the check failed. The embedded
 * database must not be in use.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { organisation: { type: 'string' }, anchors: { type: 'string' } } });
  const settings = loadSettings(prepareKeys(process.env));
  const anchors = await readAnchors(values.anchors ?? anchorFile(settings));
  const database = await openDatabase(settings, { entities, migrations }, createLog({ level: 'warn', name: 'control-plane' }));
  try {
    const { auditKey } = await readKeptKeys(database.em(), settings);
    const rows = await database.em().find(organisations, {}, { orderBy: { createdAt: 'asc' } });
    const known = new Set([...rows.map((row) => row.id), ...anchors.map((one) => one.organisationId)]);
    if (values.organisation !== undefined && !known.has(values.organisation))
      throw new Error('--organisation: no such organisation. Send the id of an organisation, or omit it to check all');
    const ids = values.organisation === undefined ? [...known] : [values.organisation];
    let bad = 0;
    for (const id of ids) {
      const own = anchors.filter((one) => one.organisationId === id);
      const { intact, error } = await verifyChain(database.em(), auditKey, id, own);
      if (error === null) {
        process.stdout.write(`organisation ${id}: ${counted(intact, 'entry', 'entries')}, intact\n`);
        continue;
      }
      bad += 1;
      const row = error.rowId === null ? '' : ` (row ${error.rowId})`;
      const which = error.seq === null ? 'an entry outside the chain' : `entry ${error.seq}`;
      process.stdout.write(
        `organisation ${id}: ${which}${row}: ${error.what}; intact before it: ${counted(intact, 'entry', 'entries')}\n`,
      );
    }
    return bad === 0 ? 0 : 1;
  } finally {
    await database.close();
  }
}

runCommand(main);
