import * as v from 'valibot';
import { ownBatchPrefix } from '../../../core/contract/provider/own-store.ts';
import { notFound } from '../../http/errors.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { rowIdOf } from '../files/to-reply.ts';
import { batches } from './entity.ts';

/** Routes that store batches for clients outside the gateway. Gateways serve all other batch requests. */
export const batchRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'PUT',
    path: '/batches/:id',
    hasNoVersion: true,
    summary: 'Record which file holds the output of a batch of a provider',
    reply: v.strictObject({ id: v.string(), object: v.literal('batch'), internal_output_file_id: v.nullable(v.string()) }),
    scopes: ['completions.write'],
    tenant: 'workspace',
    resource: 'batches',
    action: 'update',
    query: tenantQuery,
    body: v.strictObject({
      internal_output_file_id: v.nullable(
        v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(255, 'at most 255 characters')),
      ),
    }),
    async handle(call) {
      const { organisationId, workspaceId, body } = call;
      const internalOutputFileId = body.internal_output_file_id;
      return call.write(async ({ tx, about }) => {
        const id = rowIdOf(ownBatchPrefix, call.params.id);
        const row = id === null || workspaceId === null ? null : await tx.findOne(batches, { id, organisationId, workspaceId });
        if (!row) throw notFound('Batch');
        about(row);
        // The version of the row is not checked, because the job that runs the batch increments it at any time.
        await tx.nativeUpdate(batches, { id: row.id, organisationId }, { internalOutputFileId });
        return { id: ownBatchPrefix + row.id, object: 'batch' as const, internal_output_file_id: internalOutputFileId };
      });
    },
  }),
];
