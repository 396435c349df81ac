import { closeWorkspace } from '../../access/hold-workspace.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { conflict, invalid } from '../../http/errors.ts';
import { type Dependents, refusalOf } from '../../publish/dependents.ts';
import type { Change } from '../../publish/write-change.ts';
import type { Workspace } from './entity.ts';
import { displayName } from './to-reply.ts';

/**
 * Archives a workspace. A name in the request must match its name. The default workspace cannot be deleted. Without
 * `force_delete`, the workspace must be empty; with it, its contents are deleted too. Its keys stop working with the notices of
 * the commit. Throws AB07 if it still shares items with others, also with `force_delete`.
 */
export async function deleteWorkspace(
  change: Change,
  row: Workspace,
  sent: { readonly name?: string | undefined; readonly force_delete: boolean },
  all: Dependents,
  actor: Actor,
): Promise<void> {
  const dependents = all.workspace;
  if (sent.name === undefined && sent.force_delete) throw invalid('name: required with force_delete');
  const names = [row.name, displayName(row, 'display'), displayName(row, 'plain')];
  if (sent.name !== undefined && !names.includes(sent.name)) {
    throw invalid('name: must equal the name of the workspace, as a confirmation');
  }
  if (row.isDefault) throw conflict('The default workspace cannot be deleted');
  const { tx } = change;
  await closeWorkspace(tx, row.organisationId, row.id);
  const refusal = await refusalOf(dependents, tx, row, actor);
  if (refusal !== null) throw conflict(refusal);
  if (!sent.force_delete) {
    const held: string[] = [];
    for (const { what, count } of dependents) {
      const number = (await count?.(tx, row)) ?? 0;
      if (number > 0) held.push(`${what} (${number})`);
    }
    if (held.length > 0) {
      throw conflict(
        `This workspace still has ${held.join(', ')}. Delete them first, or send {"name": <name of the workspace>, "force_delete": true} as body`,
      );
    }
  }
  // Also remove dependents that do not block the deletion.
  for (const { remove } of dependents) await remove?.(change, row, all);
  row.status = 'archived';
  row.archivedAt = new Date();
  row.lastUpdatedAt = row.archivedAt;
  row.userApiKeyConfigId = null;
  change.about({ id: row.id, slug: row.slug, workspaceId: row.id });
  change.emit({ kind: 'workspace', id: row.id, op: 'delete' });
  change.emit({ kind: 'workspace-name', id: `${row.organisationId}/${row.slug}`, op: 'delete' });
}
