import type { EntityManager } from '../../db/open-database.ts';
import { usageLimitsReply } from '../../limits/schema.ts';
import { configs } from '../configs/entity.ts';
import { readTenancy } from '../organisations/effective-setting.ts';
import { toSettingReply } from '../organisations/to-setting-reply.ts';
import type { WorkspaceUserReply } from '../workspace-users/schema.ts';
import { listWorkspaceUsers } from '../workspace-users/to-reply.ts';
import type { Workspace } from './entity.ts';

export type NameFormat = 'display' | 'plain' | undefined;

/** A workspace as lists show it. */
export function toRow(row: Workspace, format: NameFormat) {
  const isDefault = row.isDefault ? 1 : 0;
  return {
    id: row.id,
    slug: row.slug,
    name: displayName(row, format),
    icon: row.icon ?? null,
    description: row.description ?? null,
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    is_default: isDefault,
    status: row.status,
    defaults: { metadata: row.metadata, is_default: isDefault, object: 'workspace' },
    usage_limits: (row.usageLimits ?? []).map((limits) => usageLimitsReply(limits)),
    rate_limits: row.rateLimits ?? [],
    reject_unmetered_requests: row.rejectUnmetered,
    object: 'workspace',
  };
}

/** Returns a new workspace, whose users have texts only. */
export function toCreated<Detail extends { readonly users: readonly WorkspaceUserReply[] }>({ users, ...detail }: Detail) {
  const texts = users.map(({ scopes: _, settings: __, first_name: firstName, last_name: lastName, ...user }) => ({
    ...user,
    ...(firstName === null ? {} : { first_name: firstName }),
    ...(lastName === null ? {} : { last_name: lastName }),
  }));
  return { ...detail, users: texts };
}

const usersMax = 100;

/** Returns a workspace in full, with the values in effect for its settings. */
export async function toDetail(em: EntityManager, row: Workspace, format: NameFormat) {
  const { defaults, ...rest } = toRow(row, format);
  const { settings, ...groups } = toSettingReply({ ...(await readTenancy(em, row.organisationId, null)), workspace: row });
  const config = row.userApiKeyConfigId ? await em.findOne(configs, { id: row.userApiKeyConfigId, workspaceId: row.id }) : null;
  const users = await listWorkspaceUsers(em, row, {}, { limit: usersMax, offset: 0 });
  return {
    ...rest,
    defaults: {
      ...defaults,
      start_hooks: (row.startHooks ?? []).map((one) => one.slug),
      input_guardrails: (row.inputGuardrails ?? []).map((one) => one.slug),
      output_guardrails: (row.outputGuardrails ?? []).map((one) => one.slug),
      mcp_input_guardrails: (row.mcpInputGuardrails ?? []).map((one) => one.slug),
      mcp_output_guardrails: (row.mcpOutputGuardrails ?? []).map((one) => one.slug),
      user_api_key_config: config?.slug ?? null,
    },
    users: users.data,
    settings: {
      ...settings,
      user_key_metadata: row.settings?.user_key_metadata ?? 0,
      user_key_metadata_override: row.settings?.user_key_metadata_override ?? 0,
    },
    ...groups,
  };
}

/** Returns the name with the icon before it; for `plain` without the icon, or without the emoji that stands for one in the name. */
export function displayName(row: Workspace, format: NameFormat): string {
  if (row.icon) return format === 'plain' ? row.name : `${row.icon} ${row.name}`;
  return format === 'plain' ? row.name.slice(emojiOf(row.name).length) : row.name;
}

const emojiFirst =
  /^(?:(?:\p{Regional_Indicator}{2}|\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\p{Extended_Pictographic}|\uFE0F|\u200D)*)\s+)+(?=\S)/u;

/** Returns the emoji that a name begins with, and the space after it; empty if there is none, or nothing after it. */
export function emojiOf(name: string): string {
  return emojiFirst.exec(name)?.[0] ?? '';
}
