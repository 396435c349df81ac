import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { isDatabaseAway } from '../../../admin/is-database-away.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newGate } from '../../support/gate.ts';
import { within } from '../../support/until.ts';
import { testSettings } from '../support/plane.ts';
import { newReadyDatabase, postgresMissing } from '../support/test-database.ts';

if (postgresMissing) console.warn(`skipped: ${postgresMissing}`);

describe.skipIf(postgresMissing !== null)('a database on PostgreSQL', () => {
  it.each([0, 1, 2, 4, 8, 16])(
    'closes although statements are waiting for their connections, %i turns after their start',
    async (turns) => {
      const server = await newReadyDatabase();
      try {
        const settings = testSettings('/nonexistent', { DATABASE_URL: server.url, DB_POOL_SIZE: '10' });
        const database = await openDatabase(settings, { entities, migrations }, newMemoryLog());
        const statements = Promise.allSettled(Array.from({ length: 5 }, () => database.em().execute('select 1 as one')));
        for (let turn = 0; turn < turns; turn++) await nextTurn();
        await within(database.close(), 'the end of the pool', 10_000);
        for (const result of await statements) {
          if (result.status === 'fulfilled') expect(result.value).toEqual([{ one: 1 }]);
          else expect(isDatabaseAway(result.reason)).toBe(true);
        }
      } finally {
        await server.drop();
      }
    },
  );

  it('fails statements that wait for a connection as soon as it closes', async () => {
    const server = await newReadyDatabase();
    try {
      const settings = testSettings('/nonexistent', { DATABASE_URL: server.url, DB_POOL_SIZE: '1' });
      const database = await openDatabase(settings, { entities, migrations }, newMemoryLog());
      const [begun, end] = [newGate<void>(), newGate<void>()];
      const holder = database.em().transactional(async (tx) => {
        await tx.execute('select 1');
        begun.open();
        await end.opened;
      });
      await begun.opened;
      const waiting = database.em().execute('select 1 as one');
      // It reaches the pool within these turns.
      for (let turn = 0; turn < 8; turn++) await nextTurn();
      const closed = database.close();
      await expect(waiting).rejects.toThrow('the database is being closed');
      end.open();
      await Promise.allSettled([holder, closed]);
    } finally {
      await server.drop();
    }
  });
});
