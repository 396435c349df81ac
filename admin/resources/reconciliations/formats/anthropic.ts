import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { invalid } from '../../../http/errors.ts';
import { flatMapInTurns } from '../../../in-turns.ts';
import type { BilledLine } from '../read-bill.ts';
import { type PageResult, readPages } from './pages.ts';
import { requireDollars, toDay, toNanoDollars, toTokens } from './values.ts';

/** Reads pages of Anthropic's `GET /v1/organizations/cost_report`. Amounts are decimal texts in cents. */
export async function readAnthropicCosts(data: unknown): Promise<BilledLine[]> {
  return flatMapInTurns(readPages(data), (one) => {
    const { result, location } = one;
    requireDollars(result.currency, `${location}.currency`);
    const costNano = toNanoDollars(result.amount, `${location}.amount`, 0.01);
    return [{ ...locationOfLine(one), costNano, inputTokens: null, outputTokens: null }];
  });
}

/** Reads pages of Anthropic's `GET /v1/organizations/usage_report/messages`, which states tokens and no costs. */
export async function readAnthropicUsage(data: unknown): Promise<BilledLine[]> {
  return flatMapInTurns(readPages(data), (one) => {
    const { result, location } = one;
    // The cost report has the same pages, and would be read as a bill of zero tokens.
    if (!('uncached_input_tokens' in result) && !('output_tokens' in result)) {
      throw invalid(`${location}: uncached_input_tokens or output_tokens is expected. This may be a page of another report`);
    }
    const tokens = (from: JsonObject, name: string, at = location): number => toTokens(from[name], `${at}.${name}`) ?? 0;
    const created = isObject(result.cache_creation) ? result.cache_creation : {};
    const written = Object.keys(created).reduce((sum, name) => sum + tokens(created, name, `${location}.cache_creation`), 0);
    const inputTokens = tokens(result, 'uncached_input_tokens') + tokens(result, 'cache_read_input_tokens') + written;
    return [{ ...locationOfLine(one), costNano: null, inputTokens, outputTokens: tokens(result, 'output_tokens') }];
  });
}

function locationOfLine({ bucket, result, location }: PageResult): { readonly day: string; readonly name: string | null } {
  const { model, description } = result;
  const name = model ?? description ?? null;
  if (name !== null && typeof name !== 'string') throw invalid(`${location}.model: a text is expected`);
  return { day: toDay(bucket.starting_at, `${location}: starting_at of its bucket`), name };
}
