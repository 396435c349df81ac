import { defineResource, idOfReply } from '../../define-resource.ts';
import { ratePolicies, usagePolicies } from './entity.ts';
import { Policies } from './migrations/202611221740-policies.ts';
import { AgentPolicies } from './migrations/202611231250-agent-policies.ts';
import { UsagePolicyTarget } from './migrations/202611232215-usage-policy-target.ts';
import { ratePolicyRoutes } from './rate-routes.ts';
import { toPoliciesDocument } from './to-document.ts';
import { usagePolicyRoutes } from './usage-routes.ts';

export const policiesResource = defineResource({
  name: 'policies',
  after: ['workspaces'],
  entities: [usagePolicies, ratePolicies],
  migrations: [
    { name: '202611221740-policies', class: Policies },
    { name: '202611231250-agent-policies', class: AgentPolicies },
    { name: '202611232215-usage-policy-target', class: UsagePolicyTarget },
  ],
  routes: [...usagePolicyRoutes, ...ratePolicyRoutes],
  documents: [{ kind: 'workspace-policies', read: ({ database }, id) => toPoliciesDocument(database.em(), id) }],
  dependents: {
    workspace: [
      {
        what: 'policies',
        async remove({ tx, emit }, { id, organisationId }) {
          await tx.nativeDelete(usagePolicies, { organisationId, workspaceId: id });
          await tx.nativeDelete(ratePolicies, { organisationId, workspaceId: id });
          emit({ kind: 'workspace-policies', id, op: 'delete' });
        },
      },
    ],
  },
  samples: [
    {
      create: '/policies/usage-limits',
      item: '/policies/usage-limits/{policyUsageLimitsId}',
      list: '/policies/usage-limits',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} usage policy ${n}`,
        conditions: [{ key: 'metadata.team', value: `${mark}-${n}` }],
        group_by: [{ key: 'api_key' }],
        type: 'cost',
        credit_limit: 10,
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
      ofWorkspace: true,
      idOf: idOfReply,
    },
    {
      create: '/policies/rate-limits',
      item: '/policies/rate-limits/{rateLimitsPolicyId}',
      list: '/policies/rate-limits',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} rate policy ${n}`,
        conditions: [{ key: 'api_key', value: '*' }],
        group_by: [{ key: 'api_key' }],
        type: 'requests',
        unit: 'rpd',
        value: 100_000,
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
      ofWorkspace: true,
      idOf: idOfReply,
    },
  ],
});
