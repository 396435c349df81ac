import { BigIntType, type EntityMetadata } from '@mikro-orm/core';

/** The part of a query builder that is needed. To compare whole types of query builders takes the type checker four seconds. */
interface RowQuery {
  readonly mainAlias: { readonly meta: unknown };
  execute<Result>(method: 'all'): Promise<Result>;
}

/**
 * Returns the rows of a query as plain objects. The ORM takes several times as long to make entities of them, because it keeps a copy of each to find
 * changes. For reads of many rows that are not changed afterwards.
 */
export async function plainRows<Entity extends object>(query: RowQuery): Promise<Entity[]> {
  const rows = await query.execute<Record<string, unknown>[]>('all');
  const bigints = bigintsOf(query.mainAlias.meta as EntityMetadata);
  // Drivers return bigint columns as texts. They have parsed the other types.
  for (const row of rows) for (const name of bigints) if (typeof row[name] === 'string') row[name] = Number(row[name]);
  return rows as Entity[];
}

function bigintsOf(meta: EntityMetadata): string[] {
  return meta.props.filter(({ customType }) => customType instanceof BigIntType).map(({ name }) => name);
}
