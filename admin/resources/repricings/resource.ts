import { defineResource, idOfReply } from '../../define-resource.ts';
import { repricings } from './entity.ts';
import { Repricings } from './migrations/202611222120-repricings.ts';
import { repriceJob, repriceKind } from './reprice.ts';
import { repricingRoutes } from './routes.ts';

export const repricingsResource = defineResource({
  name: 'repricings',
  after: ['integrations', 'logs'],
  entities: [repricings],
  migrations: [{ name: '202611222120-repricings', class: Repricings }],
  routes: repricingRoutes,
  jobs: [{ kind: repriceKind, handler: repriceJob }],
  samples: [
    {
      create: '/ledger/repricings',
      item: '/ledger/repricings/{repricingId}',
      list: '/ledger/repricings',
      body: () => ({ time_of_generation_min: '2020-01-01T00:00:00Z', time_of_generation_max: '2020-01-02T00:00:00Z' }),
      update: () => null,
      ofWorkspace: false,
      hasNoText: true,
      idOf: idOfReply,
    },
  ],
});
