import type { EntityManager } from '../../db/open-database.ts';
import { effectiveSetting, readTenancy } from './effective-setting.ts';

/** Settings in effect for users' keys in one workspace. */
export interface KeySettings {
  /** Days between the mandatory rotations of users' keys. Null: each key sets its own. */
  readonly rotationPeriodDays: number | null;
  /** Default and maximum lifetime of a user's key in seconds. Null: no end. */
  readonly ttlSeconds: number | null;
  /** Maximum number of keys of one user in the workspace. Null: any number. */
  readonly countMax: number | null;
  /** Creates a key for each user who joins the workspace. */
  readonly autoCreate: boolean;
  /** Scopes of automatically created keys; empty: those the role allows. */
  readonly autoCreateScopes: readonly string[];
  /** Row id of the config new keys of users get when they name none. */
  readonly defaultConfigId: string | null;
}

/** Returns the settings for users' keys. Throws AB08 if the workspace does not belong to the organisation. */
export async function effectiveKeySettings(em: EntityManager, organisationId: string, workspaceId: string): Promise<KeySettings> {
  const tenancy = await readTenancy(em, organisationId, workspaceId);
  const { organisation, workspace } = tenancy;
  const ofOrganisation = organisation.settings ?? {};
  const ofWorkspace = workspace?.settings ?? {};
  const setting = <Value>(key: string) => effectiveSetting<Value>(tenancy, 'settings', key);
  return {
    rotationPeriodDays: setting<number | null>('user_api_key_rotation_period') ?? null,
    // Both levels may set these. The lower value applies.
    ttlSeconds: lower(ofOrganisation.user_api_key_ttl, ofWorkspace.user_api_key_ttl),
    countMax: lower(ofOrganisation.user_api_key_count, ofWorkspace.user_api_key_count),
    // All users join the default workspace, so it has a separate switch.
    autoCreate: workspace?.isDefault
      ? (ofOrganisation.default_workspace_user_api_key_auto_create ?? false)
      : (setting<boolean>('user_api_key_auto_create') ?? false),
    autoCreateScopes: setting<string[]>('user_api_key_auto_create_scopes') ?? [],
    defaultConfigId: workspace?.userApiKeyConfigId ?? null,
  };
}

function lower(left: number | null | undefined, right: number | null | undefined): number | null {
  const given = [left, right].filter((value): value is number => typeof value === 'number');
  return given.length === 0 ? null : Math.min(...given);
}
