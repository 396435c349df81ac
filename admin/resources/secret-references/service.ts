import { findWorkspace } from '../../access/resolve-workspace.ts';
import { newId, newSlug } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { asReference, conflict, invalid, notFound } from '../../http/errors.ts';
import { checkHost } from '../../http/gateways/check-host.ts';
import { requireUnchanged } from '../../http/request/schemas.ts';
import { type Dependents, type OwnerRow, refusalOf } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { addressSettings, mergeAuthConfig } from './auth-config.ts';
import { type SecretReference, secretReferences } from './entity.ts';
import { findReference } from './find-reference.ts';
import type { CreateBody, UpdateBody } from './schema.ts';
import { putAuth } from './secrets.ts';

type Services = Pick<AdminServices, 'vault' | 'settings' | 'dependents'>;

/** Stores a reference with its credentials sealed. Gateways receive it when an integration uses it. */
export async function createReference(
  change: Change,
  services: Services,
  actor: Actor,
  sent: CreateBody,
): Promise<SecretReference> {
  const { tx } = change;
  const { organisationId } = actor;
  if (sent.slug !== undefined && (await tx.count(secretReferences, { organisationId, slug: sent.slug })) > 0) {
    throw conflict(`slug: a secret reference with the slug ${sent.slug} already exists`);
  }
  const now = new Date();
  const row = tx.create(secretReferences, {
    id: newId(),
    organisationId,
    slug: sent.slug ?? newSlug('', sent.name),
    name: sent.name,
    description: sent.description ?? null,
    managerType: sent.manager_type,
    auth: {},
    secrets: null,
    secretHints: {},
    secretPath: sent.secret_path,
    secretKey: sent.secret_key ?? null,
    allowAllWorkspaces: true,
    allowedWorkspaces: [],
    tags: sent.tags ?? {},
    createdBy: actor.userId ?? actor.keyId,
    createdAt: now,
    lastUpdatedAt: now,
  });
  await setAuth(tx, services, row, sent.auth_config);
  await setAccess(tx, row, sent, true);
  await tx.flush();
  change.about(row);
  return row;
}

/**
 * Updates the sent fields; null clears. Announces every dependent of the reference, including those in workspaces that may no longer
 * use it, which stop working.
 */
export async function updateReference(change: Change, services: Services, row: SecretReference, sent: UpdateBody): Promise<void> {
  const { tx } = change;
  requireUnchanged('slug', sent.slug, row.slug);
  requireUnchanged('manager_type', sent.manager_type, row.managerType);
  if (sent.name !== undefined) row.name = sent.name;
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.secret_path !== undefined) row.secretPath = sent.secret_path;
  if (sent.secret_key !== undefined) row.secretKey = sent.secret_key;
  if (sent.tags !== undefined) row.tags = sent.tags ?? {};
  if (sent.auth_config !== undefined) await setAuth(tx, services, row, sent.auth_config);
  await setAccess(tx, row, sent, false);
  row.lastUpdatedAt = new Date();
  change.about(row);
  for (const { changed } of services.dependents.secretReference) await changed?.(change, row);
}

/** Deletes a reference with its credential. Throws AB01 while another resource reads from it. */
export async function deleteReference(change: Change, actor: Actor, row: SecretReference, dependents: Dependents): Promise<void> {
  const refusal = await refusalOf(dependents.secretReference, change.tx, row, actor);
  if (refusal !== null) throw invalid(refusal);
  for (const { remove } of dependents.secretReference) await remove?.(change, row, dependents);
  change.tx.remove(row);
  change.about(row);
}

/** Returns the organisation's reference by id or slug, locked for a change until the transaction ends. Throws AB08. */
export async function getReference(
  em: EntityManager,
  organisationId: string,
  idOrSlug: string,
  lock?: 'to change',
): Promise<SecretReference> {
  const found = await findReference(em, organisationId, idOrSlug, lock);
  if (!found) throw notFound('Secret reference');
  return found;
}

async function setAuth(
  tx: EntityManager,
  { vault, settings }: Services,
  row: SecretReference,
  sent: Readonly<Record<string, unknown>>,
): Promise<void> {
  const merged = mergeAuthConfig(row.managerType, sent, row);
  for (const name of addressSettings) {
    const url = merged.settings[name];
    if (url !== undefined) checkHost(settings, url, `auth_config.${name}`);
  }
  row.auth = merged.settings;
  if (Object.keys(merged.secrets).length > 0) await putAuth(tx, vault, row, merged.secrets);
}

/** Sets the workspaces that may use the reference: all unless some are named. */
async function setAccess(
  tx: EntityManager,
  row: SecretReference,
  sent: Pick<UpdateBody, 'allow_all_workspaces' | 'allowed_workspaces'>,
  isNew: boolean,
): Promise<void> {
  const { allow_all_workspaces: all, allowed_workspaces: named } = sent;
  if (all === true && named !== undefined) throw invalid('allowed_workspaces: not together with allow_all_workspaces');
  if (named !== undefined) {
    const ids: string[] = [];
    for (const [index, one] of named.entries()) ids.push(await workspaceId(tx, row.organisationId, one, index));
    row.allowedWorkspaces = [...new Set(ids)];
    row.allowAllWorkspaces = false;
  } else if (all === true) {
    row.allowedWorkspaces = [];
    row.allowAllWorkspaces = true;
  } else if (all === false && (isNew || row.allowAllWorkspaces)) {
    throw invalid('allowed_workspaces: required if allow_all_workspaces is false');
  }
}

async function workspaceId(tx: EntityManager, organisationId: string, idOrSlug: string, index: number): Promise<string> {
  const named = findWorkspace(tx, organisationId, idOrSlug);
  return (await named.catch(asReference(`allowed_workspaces[${index}]`, 'Workspace'))).id;
}

/** Removes a deleted workspace from the references that name it. */
export async function forgetWorkspace({ tx }: Change, { id, organisationId }: OwnerRow): Promise<void> {
  for (const row of await tx.find(secretReferences, { organisationId, allowAllWorkspaces: false })) {
    if (row.allowedWorkspaces.includes(id)) row.allowedWorkspaces = row.allowedWorkspaces.filter((one) => one !== id);
  }
}
