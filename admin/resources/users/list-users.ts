import type * as v from 'valibot';
import { findPage } from '../../db/find-page.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { users } from './entity.ts';
import type { listQuery } from './schema.ts';
import { toUserReplies } from './to-reply.ts';

/** A page of the organisation's members, oldest first. */
export async function listUsers(em: EntityManager, organisationId: string, query: v.InferOutput<typeof listQuery>) {
  const where = {
    organisationId,
    ...(query.role === undefined ? {} : { role: query.role }),
    ...(query.email === undefined ? {} : { email: query.email }),
  };
  const [rows, total] = await findPage(em, users, where, {
    ...pageOf(query),
    orderBy: { createdAt: 'asc', id: 'asc' },
  });
  return { total, object: 'list' as const, data: await toUserReplies(em, organisationId, rows) };
}
