import { executeBound } from '../../db/execute-bound.ts';
import type { EntityManager } from '../../db/open-database.ts';

import { type PricedRecord, toLine } from './record-table.ts';

/**
 * Stores copies of records for ClickHouse in the transaction that changes the records, so that none is lost. The rows of these records
 * are locked by then, so later versions get higher numbers. No tenant may read records without an organisation, so they are left out.
 */
export async function queueCopies(tx: EntityManager, rows: readonly PricedRecord[]): Promise<void> {
  const owned = rows.filter(({ record }) => record.organisationId !== null);
  if (owned.length === 0) return;
  const [next] = await executeBound<{ id: number | string }>(tx, `select nextval('record_copies_id') as id`, []);
  const id = Number(next?.id);
  const lines = owned.map((row) => toLine(row, id)).join('');
  await executeBound(tx, 'insert into record_copies (id, lines) values ($1, $2)', [id, lines]);
}
