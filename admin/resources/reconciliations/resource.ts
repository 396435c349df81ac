import { defineResource, idOfReply } from '../../define-resource.ts';
import { reconciliations } from './entity.ts';
import { Reconciliations } from './migrations/202611230310-reconciliations.ts';
import { reconciliationRoutes } from './routes.ts';

export const reconciliationsResource = defineResource({
  name: 'reconciliations',
  after: ['logs'],
  entities: [reconciliations],
  migrations: [{ name: '202611230310-reconciliations', class: Reconciliations }],
  routes: reconciliationRoutes,
  samples: [
    {
      create: '/ledger/reconciliations',
      item: '/ledger/reconciliations/{reconciliationId}',
      list: '/ledger/reconciliations',
      body: (_tenant, _made, n, mark) => ({
        name: `${mark} ${n}`,
        format: 'csv',
        data: 'date,model,cost\n2026-11-01,gpt-4o,1.5\n',
      }),
      update: () => null,
      ofWorkspace: false,
      idOf: idOfReply,
    },
  ],
});
