import { defineResource } from '../../define-resource.ts';
import { organisationMemberRoutes } from './routes.ts';

export const organisationMembersResource = defineResource({
  name: 'organisation-members',
  after: ['organisations'],
  routes: organisationMemberRoutes,
});
