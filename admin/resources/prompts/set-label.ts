import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, notFound } from '../../http/errors.ts';
import type { Change } from '../../publish/write-change.ts';
import { promptLabels } from '../prompt-labels/entity.ts';
import { findLabel } from '../prompt-labels/service.ts';
import { touch } from '../prompt-partials/shared-items.ts';
import { type LabelledVersion, type Prompt, type PromptLabelVersions, promptLabelVersions } from './entity.ts';
import { announce } from './service.ts';
import { labelsOf, versionOf } from './versions.ts';

/** A label of a prompt with its name. */
export interface NamedLabel {
  readonly name: string;
  readonly row: PromptLabelVersions;
}

/** Returns the labels of a prompt, also those that were removed and can be restored, in alphabetical order. */
export async function listLabels(em: EntityManager, prompt: Prompt): Promise<NamedLabel[]> {
  const rows = await labelsOf(em, prompt);
  const found = await em.find(promptLabels, { id: { $in: rows.map(({ labelId }) => labelId) }, status: 'active' });
  const names = new Map(found.map(({ id, name }) => [id, name]));
  return rows.flatMap((row) => ({ name: names.get(row.labelId) ?? '', row })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Moves a label to these versions; an empty list removes it from the prompt. The versions before can be restored. Throws AB08. */
export async function setLabel(
  change: Change,
  prompt: Prompt,
  actor: Actor,
  idOrName: string,
  versions: LabelledVersion[],
): Promise<NamedLabel> {
  const { tx } = change;
  const { organisationId, workspaceId } = prompt;
  const label = await findLabel(tx, { organisationId, workspaceId }, idOrName);
  for (const { version } of versions) await versionOf(tx, prompt, version);
  const found = await tx.findOne(promptLabelVersions, { organisationId, promptId: prompt.id, labelId: label.id });
  touch(prompt, actor);
  const row =
    found ??
    tx.create(promptLabelVersions, {
      ...{ id: newId(), organisationId, workspaceId, promptId: prompt.id, labelId: label.id },
      ...{ versions: [], previous: [], updatedBy: prompt.updatedBy, lastUpdatedAt: prompt.lastUpdatedAt },
    });
  row.previous = row.versions;
  row.versions = versions;
  row.updatedBy = prompt.updatedBy;
  row.lastUpdatedAt = prompt.lastUpdatedAt;
  announce(change, prompt);
  return { name: label.name, row };
}

/** Restores the versions that a label named before its last change. Throws AB08, and AB07 if it was never changed. */
export async function revertLabel(change: Change, prompt: Prompt, actor: Actor, idOrName: string): Promise<NamedLabel> {
  const { organisationId, workspaceId, id: promptId } = prompt;
  const label = await findLabel(change.tx, { organisationId, workspaceId }, idOrName);
  const found = await change.tx.findOne(promptLabelVersions, { organisationId, promptId, labelId: label.id });
  if (!found) throw notFound('Label of this prompt');
  if (found.versions.length === 0 && found.previous.length === 0) throw conflict('The label has no earlier versions');
  return setLabel(change, prompt, actor, label.id, found.previous);
}

/** Removes all labels from one version. Other versions of a split keep their weights. */
export async function removeLabels(change: Change, prompt: Prompt, actor: Actor, number: number): Promise<void> {
  for (const { labelId, versions } of await labelsOf(change.tx, prompt)) {
    const left = versions.filter(({ version }) => version !== number);
    if (left.length < versions.length) await setLabel(change, prompt, actor, labelId, left);
  }
}
