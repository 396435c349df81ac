import type { EntityManager } from '../../db/open-database.ts';
import { effectiveSetting, readTenancy, type Tenancy } from './effective-setting.ts';
import { type SecuritySettingName, type SecuritySettings, securityDefaults } from './setting-sections.ts';

export type { SecuritySettings };

/**
 * Who may see and do what in this workspace, every setting with its value: the workspace's where the organisation lets it
 * override, else the organisation's, else the default. Without a workspace: the organisation's. Throws AB08.
 */
export async function effectiveSecuritySettings(
  em: EntityManager,
  organisationId: string,
  workspaceId: string | null,
): Promise<SecuritySettings> {
  return securitySettingsOf(await readTenancy(em, organisationId, workspaceId));
}

/** The same over rows that are at hand. */
export function securitySettingsOf(tenancy: Tenancy): SecuritySettings {
  const names = Object.keys(securityDefaults) as SecuritySettingName[];
  const pairs = names.map((name) => [
    name,
    effectiveSetting<boolean>(tenancy, 'securitySettings', name) ?? securityDefaults[name],
  ]);
  return Object.fromEntries(pairs) as SecuritySettings;
}
