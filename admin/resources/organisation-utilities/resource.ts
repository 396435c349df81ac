import { defineResource } from '../../define-resource.ts';
import { organisationUtilityRoutes } from './routes.ts';

export const organisationUtilitiesResource = defineResource({
  name: 'organisation-utilities',
  after: ['organisations'],
  routes: organisationUtilityRoutes,
});
