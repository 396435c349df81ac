import { LockMode } from '@mikro-orm/core';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Tenant } from '../../db/tenant.ts';
import { conflict, notFound } from '../../http/errors.ts';
import type { Dependents } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import { type PromptLabel, promptLabels, universalLabels } from './entity.ts';

interface Sent {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly color_code?: string | null | undefined;
}

/** Labels that the caller can use: those of the workspace and of the organisation. Without a workspace: all of the organisation. */
export function labelsOf({ organisationId, workspaceId }: Tenant) {
  const own = workspaceId === null ? {} : { $or: [{ workspaceId }, { workspaceId: null }] };
  return { organisationId, status: 'active' as const, ...own };
}

/** Returns a label that the caller can use, by id or name. Throws AB08. */
export async function findLabel(em: EntityManager, tenant: Tenant, idOrName: string, lock?: 'for update'): Promise<PromptLabel> {
  const where = { $and: [labelsOf(tenant), isUuid(idOrName) ? { id: idOrName } : { name: idOrName }] };
  const found = await em.findOne(promptLabels, where, lock ? { lockMode: LockMode.PESSIMISTIC_WRITE } : {});
  if (!found) throw notFound('Label');
  return found;
}

/** Adds the labels that every organisation has. */
export function addUniversalLabels(change: Change, organisationId: string): void {
  for (const name of universalLabels) addRow(change, { organisationId, workspaceId: null }, { name }, true);
}

/** Adds a label to the workspace, or to the organisation without one. Throws AB07 if the name is taken. */
export async function createLabel(change: Change, tenant: Tenant, sent: Sent & { readonly name: string }): Promise<PromptLabel> {
  await requireFree(change.tx, tenant, sent.name, null);
  const row = addRow(change, tenant, sent, false);
  await change.tx.flush();
  change.about(row);
  return row;
}

/** Updates the sent fields. A new name changes the documents of the prompts that use the label. */
export async function updateLabel(change: Change, row: PromptLabel, sent: Sent, dependents: Dependents): Promise<void> {
  requireOwn(row, 'changed');
  if (sent.description !== undefined) row.description = sent.description;
  if (sent.color_code !== undefined) row.colorCode = sent.color_code;
  if (sent.name !== undefined && sent.name !== row.name) {
    await requireFree(change.tx, { ...row, workspaceId: row.workspaceId ?? null }, sent.name, row);
    row.name = sent.name;
    for (const { changed } of dependents.label) await changed?.(change, row);
  }
  row.lastUpdatedAt = new Date();
  change.about(row);
}

/** Archives a label. References to `@<label>` then fail. */
export async function archiveLabel(change: Change, row: PromptLabel, dependents: Dependents): Promise<void> {
  requireOwn(row, 'deleted');
  for (const { remove } of dependents.label) await remove?.(change, row, dependents);
  row.status = 'archived';
  row.lastUpdatedAt = new Date();
  change.about(row);
}

function requireOwn({ isUniversal, name }: PromptLabel, action: string): void {
  if (isUniversal) throw conflict(`The label ${name} belongs to every organisation and cannot be ${action}`);
}

/** A reference such as `@beta` must have one meaning, so names of the organisation are taken in every workspace, and vice versa. */
async function requireFree(em: EntityManager, tenant: Tenant, name: string, except: PromptLabel | null): Promise<void> {
  const taken = await em.findOne(promptLabels, { $and: [labelsOf(tenant), { name }, except ? { id: { $ne: except.id } } : {}] });
  if (taken) throw conflict(`name: a label with the name ${name} already exists`);
}

function addRow(change: Change, tenant: Tenant, sent: Sent & { readonly name: string }, isUniversal: boolean): PromptLabel {
  const now = new Date();
  return change.tx.create(promptLabels, {
    organisationId: tenant.organisationId,
    workspaceId: tenant.workspaceId,
    id: newId(),
    name: sent.name,
    description: sent.description ?? null,
    colorCode: sent.color_code ?? null,
    isUniversal,
    status: 'active',
    createdAt: now,
    lastUpdatedAt: now,
  });
}
