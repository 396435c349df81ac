import { BigIntType, type EntityMetadata, type EntitySchema } from '@mikro-orm/core';
import type { EntityManager } from './open-database.ts';

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
  const { bigints } = tableOf(query.mainAlias.meta as EntityMetadata);
  for (const row of rows) parseBigints(row, bigints);
  return rows as Entity[];
}

/** Values that columns must equal, by property. Null: the column is null. A list: the column has one of its values. */
type Equal<Row> = { readonly [Name in keyof Row]?: (Row[Name] & (string | boolean | null)) | readonly (Row[Name] & string)[] };

/**
 * Returns a row that has these values, null if there is none. For lookups of every request: the ORM takes more than twice as long, because it builds
 * the statement from parts and makes an entity. The row is a plain object, and changes to it are not stored; in a transaction it is the entity, which
 * may have changes that are not stored yet.
 */
export async function readRow<Row extends object>(
  em: EntityManager,
  schema: EntitySchema<Row>,
  equal: Equal<Row>,
): Promise<Readonly<Row> | null> {
  if (em.isInTransaction()) return em.findOne(schema, equal as never);
  const [row] = await rowsWith(em, schema, equal, ' limit 1');
  return row ?? null;
}

/** Like `readRow`, for all rows that have these values, in any order. */
export async function readRows<Row extends object>(
  em: EntityManager,
  schema: EntitySchema<Row>,
  equal: Equal<Row>,
): Promise<Readonly<Row>[]> {
  return em.isInTransaction() ? em.find(schema, equal as never) : rowsWith(em, schema, equal, '');
}

async function rowsWith<Row extends object>(
  em: EntityManager,
  schema: EntitySchema<Row>,
  equal: Equal<Row>,
  limit: string,
): Promise<Row[]> {
  const meta = em.getMetadata<Row>(schema) as EntityMetadata;
  const { select, columns, bigints } = tableOf(meta);
  const conditions = Object.entries<unknown>(equal).map(([name, value]) => {
    const column = columns.get(name);
    if (column === undefined || value === undefined) throw new Error(`readRow: ${name} has no column or no value`);
    if (value === null) return `${column} is null`;
    const values = [value].flat().map((one) => em.getPlatform().quoteValue(one));
    // An empty list has no row.
    return values.length === 0 ? 'false' : `${column} in (${values.join(', ')})`;
  });
  const rows = await em.execute<Record<string, unknown>[]>(`${select} where ${conditions.join(' and ')}${limit}`);
  return rows.map((row) => parseBigints(em.getDriver().mapResult(row, meta) as Record<string, unknown>, bigints) as Row);
}

interface Table {
  /** The statement up to its conditions, without columns that the ORM loads on demand alone. */
  readonly select: string;
  /** Quoted names of columns by property. */
  readonly columns: ReadonlyMap<string, string>;
  /** Properties that drivers return as texts. They have parsed the other types. */
  readonly bigints: readonly string[];
}

const tables = new WeakMap<EntityMetadata, Table>();

function tableOf(meta: EntityMetadata): Table {
  const known = tables.get(meta);
  if (known) return known;
  const stored = meta.props.filter(({ persist }) => persist !== false);
  const columns = new Map(stored.map(({ name, fieldNames }) => [name as string, `"${fieldNames[0]}"`]));
  const selected = stored.filter(({ lazy }) => !lazy).map(({ name }) => columns.get(name));
  const table = {
    select: `select ${selected.join(', ')} from "${meta.tableName}"`,
    columns,
    bigints: stored.filter(({ customType }) => customType instanceof BigIntType).map(({ name }) => name as string),
  };
  tables.set(meta, table);
  return table;
}

function parseBigints(row: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  for (const name of names) if (typeof row[name] === 'string') row[name] = Number(row[name]);
  return row;
}
