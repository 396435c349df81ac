import { defineResource } from '../../define-resource.ts';
import { scimGroupMembers, scimGroups, scimGroupWorkspaces } from './entity.ts';
import { ScimGroups } from './migrations/202611230247-scim-groups.ts';

export const scimGroupsResource = defineResource({
  name: 'scim-groups',
  after: ['scim-users', 'workspaces'],
  entities: [scimGroups, scimGroupMembers, scimGroupWorkspaces],
  migrations: [{ name: '202611230247-scim-groups', class: ScimGroups }],
});
