import type { Resource } from '../define-resource.ts';
import { apiKeysResource } from './api-keys/resource.ts';
import { auditLogsResource } from './audit-logs/resource.ts';
import { batchesResource } from './batches/resource.ts';
import { configsResource } from './configs/resource.ts';
import { filesResource } from './files/resource.ts';
import { integrationsResource } from './integrations/resource.ts';
import { logsResource } from './logs/resource.ts';
import { modelConfigsResource } from './model-configs/resource.ts';
import { organisationMembersResource } from './organisation-members/resource.ts';
import { organisationUtilitiesResource } from './organisation-utilities/resource.ts';
import { organisationsResource } from './organisations/resource.ts';
import { providersResource } from './providers/resource.ts';
import { secretReferencesResource } from './secret-references/resource.ts';
import { sessionsResource } from './sessions/resource.ts';
import { userInvitesResource } from './user-invites/resource.ts';
import { usersResource } from './users/resource.ts';
import { virtualKeysResource } from './virtual-keys/resource.ts';
import { workspaceExclusionsResource } from './workspace-exclusions/resource.ts';
import { workspaceUsersResource } from './workspace-users/resource.ts';
import { workspacesResource } from './workspaces/resource.ts';

/**
 * Every resource of the control plane. A resource stands after those that its rows name: routes and samples follow this order, and
 * rows that belong to a deleted workspace or user are removed in the opposite order.
 */
export const resources: readonly Resource[] = [
  sessionsResource,
  organisationsResource,
  organisationMembersResource,
  organisationUtilitiesResource,
  userInvitesResource,
  usersResource,
  workspacesResource,
  workspaceUsersResource,
  workspaceExclusionsResource,
  secretReferencesResource,
  integrationsResource,
  configsResource,
  providersResource,
  virtualKeysResource,
  modelConfigsResource,
  apiKeysResource,
  filesResource,
  batchesResource,
  logsResource,
  auditLogsResource,
];
