import { isDeepStrictEqual } from 'node:util';
import { forbidden } from '../../http/errors.ts';
import { effectiveSetting } from '../organisations/effective-setting.ts';
import type { Organisation } from '../organisations/entity.ts';
import { type SettingGroup, sectionOf, securityDefaults } from '../organisations/setting-sections.ts';
import type { Workspace } from './entity.ts';

/** Settings of the workspace itself, which the organisation cannot set or can only limit. */
const own: ReadonlySet<string> = new Set([
  'user_key_metadata',
  'user_key_metadata_override',
  'user_api_key_ttl',
  'user_api_key_count',
]);

/** The column and wire name of each group of settings. */
export const settingGroups = {
  settings: 'settings',
  securitySettings: 'security_settings',
  dataPlaneSecuritySettings: 'data_plane_security_settings',
  exportSettings: 'export_settings',
} as const satisfies Record<SettingGroup, string>;

/**
 * Applies the sent settings of one group. Throws AB03 for a section that the organisation does not let its workspaces override,
 * unless the sent values equal the effective ones: sending back what was read is allowed. Returns true if something changed.
 */
export function applySettings(
  organisation: Organisation,
  workspace: Workspace,
  group: SettingGroup,
  sent: Readonly<Record<string, unknown>> | undefined,
): boolean {
  const changes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(sent ?? {})) {
    if (value === undefined || isDeepStrictEqual(value, present(organisation, workspace, group, key))) continue;
    const section = sectionOf(group, key);
    const allowed = own.has(key) || (section !== undefined && (organisation.overrides ?? []).includes(section));
    if (!allowed) {
      throw forbidden(`${settingGroups[group]}.${key}: the organisation does not allow its workspaces to change this`);
    }
    changes[key] = value;
  }
  if (Object.keys(changes).length === 0) return false;
  workspace[group] = { ...(workspace[group] ?? {}), ...changes };
  return true;
}

/** Defaults if neither level has a value. */
const fallbacks: Readonly<Record<string, unknown>> = {
  ...securityDefaults,
  block_inline_config: false,
  deniedFields: [],
  debug_log: 1,
  debug_log_error_body: 0,
  user_api_key_auto_create: false,
  user_api_key_auto_create_scopes: [],
  user_key_metadata: 0,
  user_key_metadata_override: 0,
};

function present(organisation: Organisation, workspace: Workspace, group: SettingGroup, key: string): unknown {
  const value = own.has(key)
    ? (workspace[group] as Record<string, unknown> | null | undefined)?.[key]
    : effectiveSetting<unknown>({ organisation, workspace }, group, key);
  return value ?? fallbacks[key] ?? null;
}
