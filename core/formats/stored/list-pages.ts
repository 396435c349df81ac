import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../bad-param.ts';

/** One page of a provider's list, each item in OpenAI's form. */
export interface StoredPage {
  readonly items: readonly JsonObject[];
  /** Cursor that the provider expects in the request for the next page; null at the end. */
  readonly next: string | null;
}

const pagesMax = 100;

/**
 * Returns a list with OpenAI's paging (`limit`, `after`: the id of the previous item) from a provider with page tokens of its
 * own. Reads at most 100 of its pages. Throws `bad_request` for an invalid `limit`.
 */
export async function listPages(
  call: OperationCall,
  limitDefault: number,
  page: (token: string | null) => Promise<StoredPage>,
  matches: (item: JsonObject) => boolean = () => true,
): Promise<JsonObject> {
  const query = new URLSearchParams(call.query);
  const after = query.get('after');
  const limit = Number(query.get('limit') ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1) throw badParam('limit', 'a whole number from 1 is expected');
  const data: JsonObject[] = [];
  let isPast = after === null;
  let token: string | null = null;
  for (let i = 0; i < pagesMax && data.length <= limit; i++) {
    const { items, next } = await page(token);
    for (const item of items) {
      if (isPast && matches(item)) data.push(item);
      else if (item.id === after) isPast = true;
    }
    if (next === null) break;
    token = next;
  }
  const shown = data.slice(0, limit);
  return {
    object: 'list',
    data: shown,
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
    has_more: data.length > limit,
  };
}
