import { isObject } from '../../../../core/contract/values/json.ts';
import { invalid } from '../../../http/errors.ts';
import type { BilledLine } from '../read-bill.ts';
import { readPages } from './pages.ts';
import { requireDollars, toDay, toNanoDollars } from './values.ts';

/**
 * Reads pages of OpenAI's `GET /v1/organization/costs`. With `group_by=line_item` a line names a model and a kind of token, such as
 * `gpt-4o-2024-08-06, cached input`; the part after the last comma is left out.
 */
export function readOpenAiCosts(data: unknown): BilledLine[] {
  return readPages(data).map(({ bucket, result, place }) => {
    const { amount, line_item: item } = result;
    if (!isObject(amount)) throw invalid(`${place}.amount: {"value", "currency"} is expected`);
    requireDollars(amount.currency, `${place}.amount.currency`);
    if (item !== null && item !== undefined && typeof item !== 'string') throw invalid(`${place}.line_item: a text is expected`);
    return {
      day: toDay(bucket.start_time, `${place}: start_time of its bucket`),
      name: typeof item === 'string' ? item.replace(/,[^,]*$/, '').trim() : null,
      costNano: toNanoDollars(amount.value, `${place}.amount.value`),
      inputTokens: null,
      outputTokens: null,
    };
  });
}
