/**
 * Permissions inside workspaces, with defaults. A workspace overrides one section as a whole if the organisation allows it. Names
 * are the wire names.
 */
export const securitySections = {
  logs: {
    membersViewLogs: true,
    managersViewLogs: true,
    organisationAdminsViewLogs: true,
    membersViewLogMetadata: true,
    managersViewLogMetadata: true,
    organisationAdminsViewLogMetadata: true,
  },
  /** False: only the data of their own keys. */
  data_visibility: { membersViewAllData: true, managersViewAllData: true },
  prompts: { membersViewPrompts: true, managersViewPrompts: true, membersWritePrompts: false, managersWritePrompts: true },
  analytics: { membersViewAnalytics: true, managersViewAnalytics: true },
  providers: {
    membersViewProviders: true,
    managersViewProviders: true,
    membersWriteProviders: false,
    managersWriteProviders: true,
  },
  configs: { membersViewConfigs: true, managersViewConfigs: true, membersWriteConfigs: false, managersWriteConfigs: true },
  guardrails: {
    membersViewGuardrails: true,
    managersViewGuardrails: true,
    membersWriteGuardrails: false,
    managersWriteGuardrails: true,
  },
  integration_models: {
    membersViewIntegrationModels: true,
    managersViewIntegrationModels: true,
    managersWriteIntegrationModels: true,
  },
  workspace_integrations: {
    managersWriteWsIntegrations: true,
    managersWriteWsMcpIntegrations: true,
    managersWriteMcpServers: true,
  },
  /** Settings of the organisation alone. Members can access only keys of users, and among those only their own. */
  api_keys: { membersViewApiKeys: true, managersViewApiKeys: true, membersWriteApiKeys: false, managersWriteApiKeys: true },
} as const satisfies Record<string, Record<string, boolean>>;

type Sections = typeof securitySections;
type KeysOf<Section> = Section extends unknown ? keyof Section : never;
export type SecuritySettingName = KeysOf<Sections[keyof Sections]> & string;

/** Every security setting with its value. */
export type SecuritySettings = Readonly<Record<SecuritySettingName, boolean>>;

/** Values that apply if none is set. */
export const securityDefaults: SecuritySettings = Object.assign({}, ...Object.values(securitySections));

/** The columns of organisations and workspaces that hold settings; each is a JSON object under its wire name. */
export type SettingGroup = 'settings' | 'securitySettings' | 'dataPlaneSecuritySettings' | 'exportSettings';

interface OverridableSection {
  readonly group: SettingGroup;
  readonly keys: readonly string[];
}

const { api_keys: _organisationOnly, ...overridableSecurity } = securitySections;

/**
 * Sections that an organisation may let its workspaces override, by their name in `override_settings`. All other settings belong
 * to the organisation alone or to the workspace alone.
 */
export const overridableSections: Readonly<Record<string, OverridableSection>> = {
  ...Object.fromEntries(
    Object.entries(overridableSecurity).map(([name, keys]) => [name, { group: 'securitySettings', keys: Object.keys(keys) }]),
  ),
  data_plane: { group: 'dataPlaneSecuritySettings', keys: ['block_inline_config'] },
  export: { group: 'exportSettings', keys: ['deniedFields'] },
  debug_log: { group: 'settings', keys: ['debug_log', 'debug_log_error_body'] },
  user_api_key_rotation_period: { group: 'settings', keys: ['user_api_key_rotation_period'] },
  user_api_key_auto_create: { group: 'settings', keys: ['user_api_key_auto_create', 'user_api_key_auto_create_scopes'] },
};

/** Returns the name of the section that a setting belongs to. Undefined if no workspace can override it. */
export function sectionOf(group: SettingGroup, key: string): string | undefined {
  return Object.keys(overridableSections).find((name) => {
    const section = overridableSections[name];
    return section?.group === group && section.keys.includes(key);
  });
}
