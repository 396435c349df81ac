import { defineResource, slugOfReply } from '../../define-resource.ts';
import { deploymentInstances, deployments } from './entity.ts';
import { removeOldInstances } from './instances.ts';
import { Deployments } from './migrations/202611222340-deployments.ts';
import { deploymentRoutes } from './routes.ts';

export const deploymentsResource = defineResource({
  name: 'deployments',
  after: ['organisations'],
  entities: [deployments, deploymentInstances],
  migrations: [{ name: '202611222340-deployments', class: Deployments }],
  routes: deploymentRoutes,
  housekeeping: [{ name: 'delete gateways that no longer report', run: removeOldInstances }],
  samples: [
    {
      create: '/deployments',
      item: '/deployments/{deploymentId}',
      list: '/deployments',
      body: (_, __, n, mark) => ({ name: `${mark} deployment ${n}`, slug: `${mark}-deployment-${n}`, tags: { team: mark } }),
      update: (_, __, mark) => ({ name: `${mark} changed` }),
      ofWorkspace: false,
      idOf: slugOfReply,
    },
  ],
});
