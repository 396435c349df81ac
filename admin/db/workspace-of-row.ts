import type { EntityMetadata } from '@mikro-orm/core';
import type { EntityManager } from './open-database.ts';

/**
 * Returns the workspace of the organisation's row with this id, in whichever table it is; null if there is none, or it belongs to no workspace.
 * Reads every table of workspaces by its primary key, so it is for rare uses.
 */
export async function workspaceOfRow(em: EntityManager, organisationId: string, id: string): Promise<string | null> {
  const selects = [...em.getMetadata().getAll().values()]
    .filter(isOfWorkspaces)
    .map(
      ({ tableName, properties }) =>
        `select ${columnOf(properties.workspaceId)} as workspace_id from ${tableName} where id = ? and ${columnOf(properties.organisationId)} = ?`,
    );
  const values = selects.flatMap(() => [id, organisationId]);
  const rows = await em.execute<{ workspace_id: string | null }[]>(selects.join(' union all '), values);
  return rows[0]?.workspace_id ?? null;
}

function isOfWorkspaces({ properties, primaryKeys, tableName }: EntityMetadata): boolean {
  const isOwned = Boolean(properties.workspaceId?.fieldNames && properties.organisationId?.fieldNames);
  return isOwned && tableName !== '' && primaryKeys.length === 1 && properties.id?.columnTypes?.[0] === 'uuid';
}

function columnOf(property: EntityMetadata['properties'][string] | undefined): string {
  return property?.fieldNames[0] ?? '';
}
