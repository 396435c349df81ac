import { parseObject } from '../../../../core/contract/values/json/json.ts';
import { counted } from '../../../../core/contract/values/text/counted.ts';
import { invalid } from '../../../http/errors.ts';
import { flatMapInTurns } from '../../../in-turns.ts';
import type { BilledLine } from '../read-bill.ts';
import { columnOf, optionalColumnOf, readTable } from './table.ts';
import { requireDollars, toDay, toNanoDollars } from './values.ts';

/**
 * Reads rows of an AWS Cost and Usage Report as CSV, in the columns of the first (`lineItem/UsageType`) or second version
 * (`line_item_usage_type`). Only usage of Amazon Bedrock counts: taxes, credits and other services are left out. The usage type names the model
 * in AWS's own words, `USE1-Claude3Sonnet-input-tokens`: region, kind of token and tier are left out. All models of the marketplace share usage types such as
 * `USE1-MP:USE1_InputTokenCount-Units`, so that their product names them.
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
    const products = [cell(product), ...productNames.map(cell), productIn(cell('product'))];
    const isBedrock = products.some((name) => name.toLowerCase().includes('bedrock'));
    const isUsage = kind === null || ['Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage'].includes(cell(kind));
    if (!isBedrock || !isUsage) return [];
    if (currency !== null && cell(currency) !== '') requireDollars(cell(currency), `${location}, ${currency}`);
    return [
      {
        day: toDay(cell(start), `${location}, ${start}`),
        name: modelSold(products) ?? modelOf(cell(usage)),
        costNano: toNanoDollars(cell(cost), `${location}, ${cost}`),
        inputTokens: null,
        outputTokens: null,
      },
    ];
  });
  if (lines.length === 0 && rows.length > 0) throw invalid(`data: no usage of Amazon Bedrock in ${counted(rows.length, 'line')}`);
  return lines;
}

/** Returns the name in the map of attributes that the second version has in one column, as JSON. Empty if there is none. */
function productIn(attributes: string): string {
  const { product_name: name } = (attributes.startsWith('{') ? parseObject(attributes) : null) ?? {};
  return typeof name === 'string' ? name : '';
}

/** Returns the model in `Claude Haiku 4.5 (Amazon Bedrock Edition)`, the name of a product of the marketplace. Null if no name is of one. */
function modelSold(products: readonly string[]): string | null {
  const name = products.find((one) => one.endsWith(edition));
  return name === undefined ? null : name.slice(0, -edition.length);
}

const edition = ' (Amazon Bedrock Edition)';

function modelOf(usageType: string): string | null {
  const name = usageType.replace(/^[A-Z]{2,4}\d?-/, '').replace(kindOfTokens, '');
  return name === '' ? null : name;
}

/** The end of a usage type: the endpoint, kind of token, tier and region. */
const kindOfTokens =
  /(?:[-_]mantle)?[-_](?:cache[-_](?:read|write)[-_])?(?:input|output)(?:[-_]?tokens?)?(?:[-_](?:count|batch|standard|flex|priority|latency[-_]optimized|cross[-_]region[-_]global))*$/i;
