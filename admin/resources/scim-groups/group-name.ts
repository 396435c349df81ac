import { type GroupRole, groupRoles } from './entity.ts';

/** Settings of the names of groups. */
export interface NamePattern {
  readonly workspace_prefix: string;
  readonly role_separator: string;
}

/**
 * Returns the workspace and the role that a name such as `ws-Finance-role-manager` gives; null for other names. The last separator
 * counts, so that a workspace may contain one. No name gives a role in the organisation.
 */
export function parseGroupName(
  name: string,
  { workspace_prefix: prefix, role_separator: separator }: NamePattern,
): { readonly workspace: string; readonly role: GroupRole } | null {
  const at = name.lastIndexOf(separator);
  if (!name.startsWith(prefix) || at <= prefix.length) return null;
  const workspace = name.slice(prefix.length, at).trim();
  const sent = name.slice(at + separator.length).toLowerCase();
  const role = groupRoles.find((one) => one === sent);
  return role === undefined || workspace === '' ? null : { workspace, role };
}
