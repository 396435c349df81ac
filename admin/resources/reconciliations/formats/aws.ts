import { counted } from '../../../../core/contract/values/text/counted.ts';
import { invalid } from '../../../http/errors.ts';
import { flatMapInTurns } from '../../../in-turns.ts';
import type { BilledLine } from '../read-bill.ts';
import { columnOf, optionalColumnOf, readTable } from './table.ts';
import { requireDollars, toDay, toNanoDollars } from './values.ts';

/**
 * Reads rows of an AWS Cost and Usage Report as CSV, in the columns of the first (`lineItem/UsageType`) or second version
 * (`line_item_usage_type`). Only usage of Amazon Bedrock counts: taxes, credits and other services are left out. The usage type names the model
 * in AWS's own words, `USE1-Claude3Sonnet-input-tokens`: region and kind of token are left out.
 */
export async function readAwsReport(data: unknown): Promise<BilledLine[]> {
  const rows = await readTable(data);
  const start = columnOf(rows, 'line_item_usage_start_date', 'lineitem/usagestartdate');
  const cost = columnOf(rows, 'line_item_unblended_cost', 'lineitem/unblendedcost');
  const usage = columnOf(rows, 'line_item_usage_type', 'lineitem/usagetype');
  const product = columnOf(rows, 'line_item_product_code', 'lineitem/productcode');
  const kind = optionalColumnOf(rows, 'line_item_line_item_type', 'lineitem/lineitemtype');
  const currency = optionalColumnOf(rows, 'line_item_currency_code', 'lineitem/currencycode');
  const productNames = [
    'product_product_name',
    'product/productname',
    'line_item_line_item_description',
    'lineitem/lineitemdescription',
  ];
  const lines = await flatMapInTurns(rows, ({ cells, location }): BilledLine[] => {
    const cell = (name: string) => cells.get(name) ?? '';
    // Models of other companies are sold through the marketplace, under product codes of their own.
    const isBedrock = [product, ...productNames].some((name) => cell(name).toLowerCase().includes('bedrock'));
    const isUsage = kind === null || ['Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage'].includes(cell(kind));
    if (!isBedrock || !isUsage) return [];
    if (currency !== null && cell(currency) !== '') requireDollars(cell(currency), `${location}, ${currency}`);
    return [
      {
        day: toDay(cell(start), `${location}, ${start}`),
        name: modelOf(cell(usage)),
        costNano: toNanoDollars(cell(cost), `${location}, ${cost}`),
        inputTokens: null,
        outputTokens: null,
      },
    ];
  });
  if (lines.length === 0 && rows.length > 0) throw invalid(`data: no usage of Amazon Bedrock in ${counted(rows.length, 'line')}`);
  return lines;
}

function modelOf(usageType: string): string | null {
  const name = usageType
    .replace(/^[A-Z]{2,4}\d-/, '')
    .replace(/[-_](cache[-_](read|write)[-_])?(input|output)([-_]?tokens?)?([-_](count|batch|cross[-_]region[-_]global))*$/i, '');
  return name === '' ? null : name;
}
