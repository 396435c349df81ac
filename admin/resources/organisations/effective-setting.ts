import type { EntityManager } from '../../db/open-database.ts';
import { readRow } from '../../db/plain-rows.ts';
import { notFound } from '../../http/errors.ts';
import { type Workspace, workspaces } from '../workspaces/entity.ts';
import { type Organisation, organisations } from './entity.ts';
import { type SettingGroup, sectionOf } from './setting-sections.ts';

/** An organisation and, if given, one of its workspaces. */
export interface Tenancy {
  readonly organisation: Organisation;
  readonly workspace: Workspace | null;
}

/** Reads both rows. Throws AB08 if one does not exist. An archived workspace exists. */
export async function readTenancy(em: EntityManager, organisationId: string, workspaceId: string | null): Promise<Tenancy> {
  const organisation = await readRow(em, organisations, { id: organisationId });
  if (!organisation) throw notFound('Organisation');
  if (workspaceId === null) return { organisation, workspace: null };
  const workspace = await readRow(em, workspaces, { id: workspaceId, organisationId });
  if (!workspace) throw notFound('Workspace');
  return { organisation, workspace };
}

/**
 * Returns the setting in effect for the workspace, or for the organisation if there is no workspace. The workspace's value
 * applies if the organisation allows overrides in this section; else the organisation's. Undefined if neither has one.
 */
export function effectiveSetting<Value>(
  { organisation, workspace }: Tenancy,
  group: SettingGroup,
  key: string,
): Value | undefined {
  const section = sectionOf(group, key);
  const mayOverride = section !== undefined && (organisation.overrides ?? []).includes(section);
  const own = mayOverride ? entryOf<Value>(workspace?.[group], key) : undefined;
  return own === undefined ? entryOf<Value>(organisation[group], key) : own;
}

function entryOf<Value>(group: object | null | undefined, key: string): Value | undefined {
  return group ? (group as Record<string, Value | undefined>)[key] : undefined;
}
