import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId } from '../../db/new-id.ts';
import { forbidden, notFound } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { feedbacks } from './entity.ts';
import { createBody, savedReply, updateBody } from './schema.ts';

/** Only workspace keys can have these scopes. */
const shared = {
  tenant: 'workspace',
  resource: 'feedbacks',
  scopes: ['feedbacks.write', 'logs.write'],
  query: tenantQuery,
  reply: savedReply,
} as const;

const ofGuardrail =
  'This feedback was written by a guardrail and cannot be replaced. Send one of your own with POST /v1/feedback';

/** Routes of feedback. A trace need not have a record yet: records arrive after their replies. */
export const feedbackRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/feedback',
    summary: 'Rate the calls of a trace',
    action: 'create',
    body: createBody,
    async handle(call) {
      const sent = Array.isArray(call.body) ? call.body : [call.body];
      const ids = await call.write(async (change) => {
        const now = new Date();
        const rows = sent.map(({ trace_id, value, weight, metadata }) =>
          change.tx.create(feedbacks, {
            ...{ id: newId(), organisationId: call.organisationId, workspaceId: call.workspaceId ?? '' },
            ...{ traceId: trace_id, value, weight: weight ?? 1, metadata: metadata ?? {}, guardrailId: null },
            ...{ createdAt: now, lastUpdatedAt: now },
          }),
        );
        await change.tx.flush();
        if (rows[0]) change.about(rows[0]);
        return rows.map(({ id }) => id);
      });
      return { status: 'success', message: 'The feedback is stored', feedback_ids: ids };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/feedback/:feedbackId',
    summary: 'Replace a feedback',
    action: 'update',
    body: updateBody,
    async handle(call) {
      const row = await call.write(async (change) => {
        const { feedbackId: id = '' } = call.params;
        const found = isUuid(id) ? await change.tx.findOne(feedbacks, itemOf(call, id)) : null;
        if (!found) throw notFound('Feedback');
        if (found.guardrailId !== null) throw forbidden(ofGuardrail);
        call.match(found);
        const { value, weight, metadata } = call.body;
        change.tx.assign(found, { value, weight: weight ?? 1, metadata: metadata ?? {}, lastUpdatedAt: new Date() });
        change.about(found);
        return found;
      });
      return { status: 'success', message: 'The feedback is stored', feedback_ids: [row.id] };
    },
  }),
];
