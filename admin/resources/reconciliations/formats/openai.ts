import { isObject } from '../../../../core/contract/values/json/json.ts';
import { invalid } from '../../../http/errors.ts';
import { flatMapInTurns } from '../../../in-turns.ts';
import type { BilledLine } from '../read-bill.ts';
import { readPages } from './pages.ts';
import { requireDollars, toDay, toNanoDollars } from './values.ts';

/**
 * Reads pages of OpenAI's `GET /v1/organization/costs`. With `group_by=line_item` a line names a model and a kind of token, such as
 * `gpt-4o-2024-08-06, cached input`, `gpt-image-1 image, output` or `priority | gpt-5.6, output, long context`. Only the model is kept of these.
 */
export async function readOpenAiCosts(data: unknown): Promise<BilledLine[]> {
  return flatMapInTurns(readPages(data), ({ bucket, result, location }) => {
    const { amount, line_item: item } = result;
    if (!isObject(amount)) throw invalid(`${location}.amount: {"value", "currency"} is expected`);
    requireDollars(amount.currency, `${location}.amount.currency`);
    if (item !== null && item !== undefined && typeof item !== 'string')
      throw invalid(`${location}.line_item: a text is expected`);
    const day = toDay(bucket.start_time, `${location}: start_time of its bucket`);
    const name = typeof item === 'string' ? modelOf(item) : null;
    return [
      { day, name, costNano: toNanoDollars(amount.value, `${location}.amount.value`), inputTokens: null, outputTokens: null },
    ];
  });
}

/** Returns the item itself if it names no kind of token, as `web search tool calls` and `assistants api | file search` do. */
function modelOf(item: string): string {
  const end = item.indexOf(',');
  if (end === -1) return item.trim();
  return item
    .slice(item.lastIndexOf('|', end) + 1, end)
    .trim()
    .replace(/ (?:text|audio|image)$/, '');
}
