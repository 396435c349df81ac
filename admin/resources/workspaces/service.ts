import { isDeepStrictEqual } from 'node:util';
import type * as v from 'valibot';
import { requireUnchangedVisibility } from '../../access/admin-visibility.ts';
import { securitySettingsChanged } from '../../access/role-changed.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden, unknownReference } from '../../http/errors.ts';
import { itemOf } from '../../http/filters/find-item.ts';
import { requireUnchanged } from '../../http/request/schemas.ts';
import { mergeUsageLimits } from '../../limits/schema.ts';
import type { Change } from '../../publish/write-change.ts';
import { configs } from '../configs/entity.ts';
import { addGlobalProviders } from '../integrations/sharing/share.ts';
import { checkGuardrails } from '../organisations/check-guardrails.ts';
import { copyDown } from '../organisations/copy-down.ts';
import { readTenancy } from '../organisations/effective-setting.ts';
import type { Organisation } from '../organisations/entity.ts';
import { checkMetadata } from '../organisations/metadata-schema.ts';
import { securitySettingsOf } from '../organisations/security-settings.ts';
import type { SettingGroup } from '../organisations/setting-sections.ts';
import { addDefaultCollection } from '../prompt-collections/service.ts';
import type { Making } from '../workspace-users/memberships.ts';
import { addWorkspaceUsers } from '../workspace-users/service.ts';
import { applySettings, settingGroups } from './apply-settings.ts';
import { type Workspace, workspaces } from './entity.ts';
import type { createBody, updateBody } from './schema.ts';
import { emojiOf, type NameFormat } from './to-reply.ts';

type CreateBody = v.InferOutput<typeof createBody>;
type UpdateBody = v.InferOutput<typeof updateBody>;

/**
 * Adds a workspace with its first members to the organisation. It starts with the organisation's values of overridable settings.
 */
export async function createWorkspace(change: Change, actor: Actor, body: CreateBody, making: Making): Promise<Workspace> {
  const { organisationId } = actor;
  const { organisation } = await readTenancy(change.tx, organisationId, null);
  const now = new Date();
  const row = change.tx.create(workspaces, {
    id: newId(),
    organisationId,
    slug: body.slug ?? newSlug('ws-', body.name),
    name: body.name,
    description: body.description ?? null,
    icon: body.icon ?? null,
    isDefault: false,
    metadata: {},
    rejectUnmetered: false,
    status: 'active',
    createdAt: now,
    lastUpdatedAt: now,
  });
  copyDown(organisation, row, organisation.overrides ?? []);
  // Required metadata also applies to new workspaces that send no metadata.
  checkMetadata(organisation.settings?.workspace_metadata_schema, body.defaults?.metadata ?? {});
  await applyDefaults(change.tx, row, organisation, body.defaults);
  applyLimits(row, body);
  await change.tx.flush();
  await addWorkspaceUsers(change, actor, row, body.users ?? [], making);
  await addGlobalProviders(change, row);
  addDefaultCollection(change, row);
  announce(change, row);
  return row;
}

/** Updates the sent fields; metadata is replaced as a whole, `[]` and null clear limits. */
export async function updateWorkspace(
  change: Change,
  actor: Actor,
  row: Workspace,
  body: UpdateBody,
  format: NameFormat,
): Promise<void> {
  const { organisation } = await readTenancy(change.tx, row.organisationId, null);
  requireUnchanged('slug', body.slug, row.slug);
  if (body.name !== undefined) row.name = format === 'plain' ? withEmoji(row, body.name) : withoutIcon(row, body);
  if (body.description !== undefined) row.description = body.description;
  if (body.icon !== undefined) row.icon = body.icon;
  await applyDefaults(change.tx, row, organisation, body.defaults);
  const limitsBefore = limitsOf(row);
  applyLimits(row, body);
  if (actor.type !== 'organisation-service' && !isDeepStrictEqual(limitsOf(row), limitsBefore)) {
    throw forbidden(
      'usage_limits, rate_limits, reject_unmetered_requests: only the organisation can change the limits of its workspaces',
    );
  }
  const sightBefore = securitySettingsOf({ organisation, workspace: row });
  const changed = (Object.keys(settingGroups) as SettingGroup[]).filter((group) =>
    applySettings(organisation, row, group, body[settingGroups[group]]),
  );
  requireUnchangedVisibility(actor, [sightBefore], [securitySettingsOf({ organisation, workspace: row })]);
  row.lastUpdatedAt = new Date();
  announce(change, row);
  if (changed.includes('securitySettings')) await securitySettingsChanged(change, row.organisationId, row.id);
}

async function applyDefaults(
  em: EntityManager,
  row: Workspace,
  organisation: Organisation,
  sent: CreateBody['defaults'],
): Promise<void> {
  if (!sent) return;
  const { id: workspaceId, organisationId } = row;
  const tenant = { organisationId, workspaceId };
  if (sent.metadata !== undefined) {
    const metadata = sent.metadata ?? {};
    checkMetadata(organisation.settings?.workspace_metadata_schema, metadata);
    row.metadata = metadata;
  }
  if (sent.start_hooks) {
    row.startHooks = await checkGuardrails(em, tenant, sent.start_hooks, 'start', 'defaults.start_hooks');
  }
  if (sent.input_guardrails) {
    row.inputGuardrails = await checkGuardrails(em, tenant, sent.input_guardrails, 'input', 'defaults.input_guardrails');
  }
  if (sent.output_guardrails) {
    row.outputGuardrails = await checkGuardrails(em, tenant, sent.output_guardrails, 'output', 'defaults.output_guardrails');
  }
  for (const [name, side] of [
    ['mcp_input_guardrails', 'input'],
    ['mcp_output_guardrails', 'output'],
  ] as const) {
    const named = sent[name];
    if (!named) continue;
    const found = await checkGuardrails(em, tenant, named, side, `defaults.${name}`, 'mcp_tools');
    if (side === 'input') row.mcpInputGuardrails = found;
    else row.mcpOutputGuardrails = found;
  }
  if (sent.user_api_key_config !== undefined) {
    row.userApiKeyConfigId = await configIdOf(em, tenant, sent.user_api_key_config);
  }
}

async function configIdOf(em: EntityManager, tenant: WorkspaceTenant, idOrSlug: string | null): Promise<string | null> {
  if (idOrSlug === null) return null;
  const found = await em.findOne(configs, { ...itemOf(tenant, idOrSlug), status: 'active' });
  if (!found) throw unknownReference('defaults.user_api_key_config', 'Config');
  return found.id;
}

type Limits = Pick<CreateBody, 'usage_limits' | 'rate_limits' | 'reject_unmetered_requests'>;

function applyLimits(row: Workspace, body: Limits): void {
  if (body.usage_limits !== undefined) {
    const [sent] = body.usage_limits ?? [];
    row.usageLimits = sent ? [mergeUsageLimits(row.usageLimits?.[0] ?? null, sent, { path: 'usage_limits[0]' })] : [];
  }
  if (body.rate_limits !== undefined) row.rateLimits = body.rate_limits ?? [];
  if (body.reject_unmetered_requests !== undefined) row.rejectUnmetered = body.reject_unmetered_requests;
}

function limitsOf(row: Workspace): readonly unknown[] {
  return [row.usageLimits ?? [], row.rateLimits ?? [], row.rejectUnmetered];
}

/** A plain name keeps the emoji of the previous name, unless it has one itself or there is an icon. */
function withEmoji(row: Workspace, name: string): string {
  return row.icon || emojiOf(name) !== '' ? name : emojiOf(row.name) + name;
}

/** Strips the icon, so that a name read with its icon can be sent back unchanged. */
function withoutIcon(row: Workspace, body: UpdateBody): string {
  const name = body.name ?? row.name;
  const icon = body.icon ?? row.icon;
  if (!icon) return name;
  const prefix = `${icon} `;
  return name.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : name;
}

function announce(change: Change, row: Workspace): void {
  change.about({ id: row.id, slug: row.slug, workspaceId: row.id });
  change.emit({ kind: 'workspace', id: row.id, op: 'upsert' });
}
