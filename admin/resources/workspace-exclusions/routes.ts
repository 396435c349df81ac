import * as v from 'valibot';
import { tenantEntries } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { workspaces } from '../workspaces/entity.ts';
import { listReply, updateBody } from './schema.ts';
import { listExclusions, updateExclusions } from './service.ts';

const query = v.strictObject({ organisation_id: tenantEntries.organisation_id });
const shared = { tenant: 'organisation', resource: 'workspace_exclusions', query } as const;

/** Routes for workspaces excluded from the organisation's default guardrails. */
export const workspaceExclusionRoutes: readonly AdminRoute[] = (['input', 'output'] as const).flatMap((kind) => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: `/workspace-exclusions/${kind}-guardrails`,
    scopes: ['organisation_exclusions.list'],
    action: 'list',
    summary: `List workspaces that do not run the organisation's ${kind} guardrails`,
    reply: listReply,
    body: null,
    async handle(call) {
      const rows = await listExclusions(call.em, call.organisationId, kind);
      const ids = rows.map((row) => row.workspaceId);
      const named = await call.em.find(workspaces, { id: { $in: ids }, organisationId: call.organisationId });
      const byId = new Map(named.map((row) => [row.id, row]));
      const data = rows.map((row) => ({
        workspace_id: row.workspaceId,
        slug: byId.get(row.workspaceId)?.slug ?? '',
        name: byId.get(row.workspaceId)?.name ?? '',
        excluded: true,
        created_at: row.createdAt.toISOString(),
      }));
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: `/workspace-exclusions/${kind}-guardrails`,
    hasNoVersion: true,
    scopes: ['organisation_exclusions.update'],
    action: 'update',
    summary: `Exclude workspaces from the organisation's ${kind} guardrails, or include them again`,
    reply: v.strictObject({}),
    body: updateBody,
    async handle(call) {
      await call.write((change) => updateExclusions(change, call.organisationId, kind, call.body));
      return {};
    },
  }),
]);
