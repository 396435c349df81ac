import * as v from 'valibot';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { findPage } from '../../db/find-page.ts';
import { newId } from '../../db/new-id.ts';
import { invalid, notFound } from '../../http/errors.ts';
import { listOf, nullableTime, time, uuid } from '../../http/reply/reply-schemas.ts';
import { pageEntries, pageOf, tenantEntries, tenantQuery, timestamp } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { addJob } from '../../jobs/add-job.ts';
import { type Repricing, repricings } from './entity.ts';
import { repriceKind } from './reprice.ts';

const reply = v.strictObject({
  id: uuid,
  time_of_generation_min: time,
  time_of_generation_max: time,
  status: v.picklist(['in_progress', 'success']),
  records_read: v.number(),
  records_changed: v.number(),
  /** US cents. */
  cost_difference: v.number(),
  created_at: time,
  finished_at: nullableTime,
  object: v.literal('repricing'),
});

const shared = {
  tenant: 'organisation',
  resource: 'repricings',
  query: tenantQuery,
  body: null,
} as const;

const body = v.strictObject({
  organisation_id: tenantEntries.organisation_id,
  time_of_generation_min: timestamp,
  time_of_generation_max: timestamp,
});

/** Routes of repricing. Prices belong to integrations, and so do their scopes. */
export const repricingRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/ledger/repricings',
    summary: 'Price the records of a time range again, with the saved and public prices of their times',
    scopes: ['organisation_integrations.update'],
    action: 'create',
    body,
    reply: v.strictObject({ id: uuid, object: v.literal('repricing') }),
    async handle(call) {
      const [fromAt, toAt] = [new Date(call.body.time_of_generation_min), new Date(call.body.time_of_generation_max)];
      if (toAt <= fromAt) throw invalid('time_of_generation_max: must be after time_of_generation_min');
      const { organisationId } = call;
      const id = newId();
      await call.write(async (change) => {
        const none = { recordsRead: 0, recordsChanged: 0, differenceNano: 0, lastAt: null, lastId: null, finishedAt: null };
        change.tx.create(repricings, {
          ...{ id, organisationId, fromAt, toAt, status: 'in_progress' as const, createdAt: new Date() },
          ...none,
        });
        await change.tx.flush();
        await addJob(change.tx, { kind: repriceKind, key: id, organisationId });
        change.about({ id });
      });
      call.services.wakeJobs();
      return { id, object: 'repricing' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/ledger/repricings',
    summary: 'List repricings, newest first',
    scopes: ['organisation_integrations.list'],
    action: 'list',
    query: v.strictObject({ ...tenantEntries, ...pageEntries }),
    reply: listOf(reply),
    async handle(call) {
      const { em, organisationId } = call;
      const page = { ...pageOf(call.query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, repricings, { organisationId }, page);
      return { object: 'list', total, data: rows.map(toReply) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/ledger/repricings/:repricingId',
    summary: 'Read a repricing with its progress',
    scopes: ['organisation_integrations.read'],
    action: 'read',
    reply,
    async handle({ em, organisationId, params: { repricingId: id = '' } }) {
      const row = isUuid(id) ? await em.findOne(repricings, { id, organisationId }) : null;
      if (!row) throw notFound('Repricing');
      return toReply(row);
    },
  }),
];

function toReply(row: Repricing): v.InferOutput<typeof reply> {
  return {
    id: row.id,
    time_of_generation_min: row.fromAt.toISOString(),
    time_of_generation_max: row.toAt.toISOString(),
    status: row.status,
    records_read: row.recordsRead,
    records_changed: row.recordsChanged,
    cost_difference: row.differenceNano / 10_000_000,
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
    object: 'repricing',
  };
}
