import { expect, it } from 'vitest';
import { runMigrations } from '../../../admin/db/run-migrations.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

it.each([
  [['1', '2'], []],
  [['1', '2', '3'], ['3']],
])('a start logs migrations of newer versions: %j', async (executed, newer) => {
  const log = newMemoryLog();
  const migrator = { on: () => {}, up: async () => [], getExecuted: async () => executed.map((name) => ({ name })) };
  await runMigrations({ migrator } as never, [{ name: '1' }, { name: '2' }], log);
  expect(log.lines.map(({ level, fields }) => [level, fields])).toEqual(newer.length > 0 ? [['warn', { newer }]] : []);
});
