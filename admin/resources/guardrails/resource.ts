import { defineResource, slugOfReply } from '../../define-resource.ts';
import { guardrails, guardrailVersions } from './entity.ts';
import { Guardrails } from './migrations/202611221700-guardrails.ts';
import { guardrailRoutes } from './routes.ts';
import { announce } from './service.ts';
import { toGuardrailDocument } from './to-document.ts';

export const guardrailsResource = defineResource({
  name: 'guardrails',
  after: ['workspaces'],
  entities: [guardrails, guardrailVersions],
  migrations: [{ name: '202611221700-guardrails', class: Guardrails }],
  routes: guardrailRoutes,
  documents: [{ kind: 'guardrail', read: toGuardrailDocument }],
  dependents: {
    workspace: [
      {
        what: 'guardrails',
        count: (em, { id, organisationId }) => em.count(guardrails, { organisationId, workspaceId: id, status: 'active' }),
        async remove(change, { id, organisationId }) {
          const own = { organisationId, workspaceId: id, status: 'active' } as const;
          for (const row of await change.tx.find(guardrails, own, { orderBy: { slug: 'asc' } })) {
            announce(change, row, 'delete');
            row.status = 'archived';
          }
        },
      },
    ],
  },
  samples: [
    {
      create: '/guardrails',
      item: '/guardrails/{guardrailId}',
      list: '/guardrails',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        name: `${mark} guardrail ${n}`,
        checks: [{ id: 'default.contains', parameters: { words: [`${mark}-word`], operator: 'none' } }],
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, name: `${mark} changed` }),
      ofWorkspace: true,
      idOf: slugOfReply,
    },
  ],
});
