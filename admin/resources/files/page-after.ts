import { badField } from './store-error.ts';

/** Query of a list in OpenAI's format. */
export interface ListQuery {
  readonly limit: number;
  /** Id of the last item of the previous page. */
  readonly after: string | null;
  readonly order: 'asc' | 'desc';
}

/** Reads `limit` (default 20 for short lists, the maximum for long ones), `after` and `order`. Throws StoreError 400. */
export function readListQuery(query: (name: string) => string | undefined, limitMax: number): ListQuery {
  const limit = query('limit');
  const count = limit === undefined ? Math.min(limitMax, limitMax > 100 ? limitMax : 20) : Number(limit);
  if (!Number.isInteger(count) || count < 1 || count > limitMax) {
    throw badField('limit', `a whole number from 1 to ${limitMax} is expected`);
  }
  const order = query('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw badField('order', 'asc or desc is expected');
  return { limit: count, after: query('after') ?? null, order };
}

/** Filter for the items after this one. */
export function pageAfter(item: { readonly createdAt: Date; readonly id: string } | null, order: 'asc' | 'desc') {
  if (!item) return {};
  const beyond = order === 'asc' ? '$gt' : '$lt';
  return { $or: [{ createdAt: { [beyond]: item.createdAt } }, { createdAt: item.createdAt, id: { [beyond]: item.id } }] };
}
