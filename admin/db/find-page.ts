import type { EntitySchema, FilterQuery, FindOptions } from '@mikro-orm/core';
import type { EntityManager } from './open-database.ts';

/** Properties to load, limits and order of a page, in the words of the ORM. */
interface PageOptions<Row extends object> {
  readonly limit: number;
  readonly offset: number;
  readonly orderBy?: FindOptions<Row>['orderBy'];
  readonly fields?: readonly (keyof Row & string)[];
}

/** Returns a page of rows and the number of all rows. Counts them only if the page does not tell their number. */
export async function findPage<Row extends object>(
  em: EntityManager,
  schema: EntitySchema<Row>,
  where: FilterQuery<NoInfer<Row>>,
  page: PageOptions<NoInfer<Row>>,
): Promise<[Row[], number]> {
  const rows = (await em.find(schema, where as never, page as never)) as Row[];
  const isLast = rows.length < page.limit && (rows.length > 0 || page.offset === 0);
  return [rows, isLast ? page.offset + rows.length : await em.count(schema, where as never)];
}
