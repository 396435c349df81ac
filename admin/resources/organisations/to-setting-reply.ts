import { effectiveSetting, type Tenancy } from './effective-setting.ts';
import { securitySettingsOf } from './security-settings.ts';

/** Returns the settings that organisations and workspaces share, each with the value in effect. */
export function toSettingReply(tenancy: Tenancy) {
  const setting = <Value>(key: string) => effectiveSetting<Value>(tenancy, 'settings', key);
  const own = (tenancy.workspace ?? tenancy.organisation).settings ?? {};
  return {
    settings: {
      debug_log: setting<0 | 1>('debug_log') ?? 1,
      debug_log_error_body: setting<0 | 1>('debug_log_error_body') ?? 0,
      user_api_key_rotation_period: setting<number | null>('user_api_key_rotation_period') ?? null,
      // Each level has its own value. The lower one applies.
      user_api_key_ttl: own.user_api_key_ttl ?? null,
      user_api_key_count: own.user_api_key_count ?? null,
      user_api_key_auto_create: setting<boolean>('user_api_key_auto_create') ?? false,
      user_api_key_auto_create_scopes: setting<string[]>('user_api_key_auto_create_scopes') ?? [],
    },
    security_settings: securitySettingsOf(tenancy),
    data_plane_security_settings: { block_inline_config: blocksInlineConfig(tenancy) },
    export_settings: { deniedFields: effectiveSetting<string[]>(tenancy, 'exportSettings', 'deniedFields') ?? [] },
  };
}

/**
 * Returns true if requests may use only saved configs and providers. Either the organisation or the workspace can require this.
 */
export function blocksInlineConfig({ organisation, workspace }: Tenancy): boolean {
  const both = { organisation, workspace };
  return (
    organisation.dataPlaneSecuritySettings?.block_inline_config === true ||
    effectiveSetting<boolean>(both, 'dataPlaneSecuritySettings', 'block_inline_config') === true
  );
}
