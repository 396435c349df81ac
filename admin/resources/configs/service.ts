import { isDeepStrictEqual } from 'node:util';
import { raw } from '@mikro-orm/core';
import type { TargetLimits } from '../../../core/contract/plugin/config/gateway-config.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { WorkspaceTenant } from '../../db/tenant.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, notFound } from '../../http/errors.ts';
import { findActiveIn, workspacesWithActive } from '../../http/filters/active-items.ts';
import { type Dependents, refusalOf } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { checkConfig } from './check-config.ts';
import { type Config, type ConfigVersion, configs, configVersions } from './entity.ts';

export interface ConfigChanges {
  readonly name?: string | undefined;
  readonly config?: unknown;
  readonly isDefault?: boolean | undefined;
  readonly status?: 'active' | 'archived' | undefined;
}

export const findConfig = findActiveIn(configs, 'Config');
export const workspacesWithConfig = workspacesWithActive(configs);

/** Saves a new config with its first version. */
export async function createConfig(
  change: Change,
  tenant: WorkspaceTenant,
  actor: Actor,
  sent: { readonly name: string; readonly slug?: string | undefined; readonly config: unknown; readonly isDefault: boolean },
  limits: TargetLimits,
): Promise<Config> {
  const { tx } = change;
  const content = await checkConfig(tx, tenant.workspaceId, sent.config, limits);
  const slug = sent.slug ?? newSlug('pc-', sent.name);
  const taken = await tx.count(configs, { ...tenant, slug, status: 'active' });
  if (taken > 0) throw conflict(`slug: a config with the slug ${slug} already exists`);
  if (sent.isDefault) await clearDefault(tx, tenant);
  const now = new Date();
  const author = actor.userId ?? actor.keyId;
  const config = tx.create(configs, {
    ...tenant,
    id: newId(),
    slug,
    name: sent.name,
    isDefault: sent.isDefault,
    status: 'active',
    versionId: newId(),
    ownerId: author,
    updatedBy: author,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await tx.flush();
  addVersion(tx, config, 1, content, author, now);
  announce(change, config, sent.isDefault);
  return config;
}

/** Updates the sent fields; changed content creates a new version. */
export async function updateConfig(
  change: Change,
  config: Config,
  actor: Actor,
  sent: ConfigChanges,
  limits: TargetLimits,
  dependents: Dependents,
): Promise<void> {
  const { tx } = change;
  if (sent.status === 'archived') return archiveConfig(change, actor, config, dependents);
  const author = actor.userId ?? actor.keyId;
  const now = new Date();
  if (sent.name !== undefined) config.name = sent.name;
  if (sent.config !== undefined) {
    const content = await checkConfig(tx, config.workspaceId, sent.config, limits);
    const current = await currentVersion(tx, config);
    if (!isDeepStrictEqual(current.config, content)) {
      config.versionId = newId();
      addVersion(tx, config, current.number + 1, content, author, now);
    }
  }
  const defaultChanges = sent.isDefault !== undefined && sent.isDefault !== config.isDefault;
  if (defaultChanges && sent.isDefault) await clearDefault(tx, config);
  if (sent.isDefault !== undefined) config.isDefault = sent.isDefault;
  config.updatedBy = author;
  config.lastUpdatedAt = now;
  announce(change, config, defaultChanges);
}

/** Archives a config. Refused while another resource uses it. */
export async function archiveConfig(change: Change, actor: Actor, config: Config, dependents: Dependents): Promise<void> {
  if (config.isDefault) throw conflict('This config is the default of its workspace. Set another default first');
  const refusal = await refusalOf(dependents.config, change.tx, config, actor);
  if (refusal !== null) throw conflict(refusal);
  config.status = 'archived';
  config.lastUpdatedAt = new Date();
  change.about(config);
  change.emit({ kind: 'config', id: `${config.workspaceId}/${config.slug}`, op: 'delete' });
}

/** All versions, newest first. */
export async function listVersions(em: EntityManager, config: Config): Promise<ConfigVersion[]> {
  return em.find(configVersions, versionsOf(config), { orderBy: { number: 'desc' } });
}

/** Returns the current version of a config. */
export async function currentVersion(em: EntityManager, config: Config): Promise<ConfigVersion> {
  return em.findOneOrFail(configVersions, { ...versionsOf(config), id: config.versionId });
}

/** One version of this config. Throws AB08. */
export async function findVersion(em: EntityManager, config: Config, id: string): Promise<ConfigVersion> {
  const found = isUuid(id) ? await em.findOne(configVersions, { ...versionsOf(config), id }) : null;
  if (!found) throw notFound('Version');
  return found;
}

function versionsOf(config: Config) {
  return { organisationId: config.organisationId, configId: config.id };
}

function addVersion(
  tx: EntityManager,
  config: Config,
  number: number,
  content: Record<string, unknown>,
  ownerId: string,
  createdAt: Date,
): void {
  const { organisationId, workspaceId } = config;
  const row = {
    id: config.versionId,
    configId: config.id,
    organisationId,
    workspaceId,
    number,
    config: content,
    ownerId,
    createdAt,
  };
  tx.create(configVersions, row);
}

/** The previous default config changes too, and so does its `etag`. */
async function clearDefault(tx: EntityManager, { organisationId, workspaceId }: WorkspaceTenant): Promise<void> {
  const where = { organisationId, workspaceId, isDefault: true };
  await tx.nativeUpdate(configs, where, { isDefault: false, revision: raw('revision + 1') });
}

function announce(change: Change, config: Config, defaultChanges: boolean): void {
  change.about(config);
  change.emit({ kind: 'config', id: `${config.workspaceId}/${config.slug}`, op: 'upsert' });
  if (defaultChanges) change.emit({ kind: 'workspace', id: config.workspaceId, op: 'upsert' });
}
