import type { AuthSettings } from './entity.ts';

/** Returns the settings of a directory's groups, with their defaults. */
export function scimSettings({ scim = {} }: AuthSettings) {
  return {
    workspace_prefix: scim.workspace_prefix ?? 'ws-',
    role_separator: scim.role_separator ?? '-role-',
    group_based_user_provisioning: scim.group_based_user_provisioning ?? false,
    membership_mode: scim.membership_mode ?? 'groups',
  };
}
