import { defineResource } from '../../define-resource.ts';
import { organisationMemberRoutes } from './routes.ts';

export const organisationMembersResource = defineResource({ name: 'organisation-members', routes: organisationMemberRoutes });
