import { type EntitySchema, type FilterQuery, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import { notFound } from '../errors.ts';
import { itemOf } from './find-item.ts';

/** A row that has a slug and is archived instead of deleted. */
interface Item {
  readonly organisationId: string;
  readonly workspaceId?: string | null;
  readonly slug: string;
  readonly status: 'active' | 'archived';
}

// biome-ignore lint/suspicious/noExplicitAny: the constructor of the rows is of no interest
type Table<Row> = EntitySchema<Row, any>;

/**
 * Finds an active item of a tenant by id or slug. `for update` locks its row until the end of the transaction, so that changes of the item are
 * serialised. Throws AB08.
 */
export type FindActive<Row> = (em: EntityManager, tenant: Tenant, idOrSlug: string, lock?: 'for update') => Promise<Row>;

/** Returns the look-up of active items of a table. `title` names one in errors. */
export function findActiveIn<Row extends Item>(table: Table<Row>, title: string): FindActive<Row> {
  return async (em, tenant, idOrSlug, lock) => {
    const where = { ...itemOf(tenant, idOrSlug), status: 'active' } as FilterQuery<Row>;
    const found = await em.findOne(table, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
    if (!found) throw notFound(title);
    return found as Row;
  };
}

/** Returns a function that lists the ids of the workspaces of an organisation that have an active item with a slug. */
export function workspacesWithActive<Row extends Item & { readonly workspaceId: string }>(
  table: Table<Row>,
): (em: EntityManager, organisationId: string, slug: string) => Promise<string[]> {
  return async (em, organisationId, slug) => {
    const rows = await em.find(table, { organisationId, slug, status: 'active' } as FilterQuery<Row>);
    return rows.map((row) => (row as Row).workspaceId);
  };
}
