import type { EntityManager } from '../../db/open-database.ts';
import { effectiveSetting, readTenancy, type Tenancy } from './effective-setting.ts';
import { type SecuritySettingName, type SecuritySettings, securityDefaults } from './setting-sections.ts';

export type { SecuritySettings };

/**
 * Returns the security settings in effect for this workspace, each with a value: the workspace's if the organisation allows
 * overrides, else the organisation's, else the default. Without a workspace, returns the organisation's. Throws AB08.
 */
export async function effectiveSecuritySettings(
  em: EntityManager,
  organisationId: string,
  workspaceId: string | null,
): Promise<SecuritySettings> {
  return securitySettingsOf(await readTenancy(em, organisationId, workspaceId));
}

/** Like `effectiveSecuritySettings`, for rows that are already loaded. */
export function securitySettingsOf(tenancy: Tenancy): SecuritySettings {
  const names = Object.keys(securityDefaults) as SecuritySettingName[];
  const pairs = names.map((name) => [
    name,
    effectiveSetting<boolean>(tenancy, 'securitySettings', name) ?? securityDefaults[name],
  ]);
  return Object.fromEntries(pairs) as SecuritySettings;
}
