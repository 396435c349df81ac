import { invalid } from '../../../http/errors.ts';
import { flatMapInTurns } from '../../../in-turns.ts';
import type { BilledLine } from '../read-bill.ts';
import { columnOf, optionalColumnOf, readTable } from './table.ts';
import { requireDollars, toDay, toNanoDollars, toTokens } from './values.ts';

/**
 * Reads a CSV text with the columns `date` and, each optional, `model`, `cost` (US dollars), `currency`, `input_tokens` and `output_tokens`.
 * Other columns are ignored.
 */
export async function readCsv(data: unknown): Promise<BilledLine[]> {
  const rows = await readTable(data);
  const date = columnOf(rows, 'date');
  const hasCost = optionalColumnOf(rows, 'cost') !== null;
  const hasTokens = optionalColumnOf(rows, 'input_tokens', 'output_tokens') !== null;
  if (rows.length > 0 && !hasCost && !hasTokens) throw invalid('data: a column cost, input_tokens or output_tokens is expected');
  return flatMapInTurns(rows, ({ cells, location }) => {
    const cell = (name: string) => cells.get(name) ?? '';
    if (cell('currency') !== '') requireDollars(cell('currency'), `${location}, currency`);
    const line = {
      day: toDay(cell(date), `${location}, date`),
      name: cell('model') === '' ? null : cell('model'),
      costNano: hasCost ? toNanoDollars(cell('cost'), `${location}, cost`) : null,
      inputTokens: toTokens(cell('input_tokens'), `${location}, input_tokens`),
      outputTokens: toTokens(cell('output_tokens'), `${location}, output_tokens`),
    };
    return [line];
  });
}
