import { membershipOf } from '../../access/membership.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { Actor } from '../../http/caller/actor.ts';
import { forbidden } from '../../http/errors.ts';
import { organisations } from '../organisations/entity.ts';
import { type SecuritySettings, securitySettingsOf } from '../organisations/security-settings.ts';
import { type User, users } from '../users/entity.ts';
import { workspaces } from '../workspaces/entity.ts';

/** Part of the logs that an actor sees, beyond the check of scopes. */
export interface LogVisibility {
  /** User whose keys' requests are visible; null: those of all users. */
  readonly ofUser: string | null;
  /** Workspaces whose logs are left out. */
  readonly hiddenWorkspaces: readonly string[];
  /** Shows the metadata of requests. */
  readonly metadata: boolean;
}

/** Any of these scopes allows reading a log by its id, with its bodies. */
export const logReadScopes = ['logs.view', 'logs.read', 'logs.write', 'completions.write'];

/** Any of these scopes allows lists and searches. A key in an application, which may only call models, must not find the requests of others. */
export const logListScopes = ['logs.list', 'logs.view', 'logs.read'];

const everything: LogVisibility = { ofUser: null, hiddenWorkspaces: [], metadata: true };

/**
 * Applies the security settings about logs to sessions and to keys of users. Service keys and owners see everything. Throws AB03
 * for an actor who may see no logs here.
 */
export async function logVisibility(em: EntityManager, actor: Actor, workspaceId: string | null): Promise<LogVisibility> {
  if (actor.userId === null) return everything;
  const { organisationId } = actor;
  const user = await em.findOne(users, { id: actor.userId, organisationId });
  if (!user) throw refused();
  if (user.role === 'owner') return everything;
  if (user.role === 'admin') return visibilityForAdmin(em, organisationId, workspaceId);
  return workspaceId === null ? Promise.reject(refused()) : visibilityForMember(em, user, workspaceId);
}

async function visibilityForAdmin(em: EntityManager, organisationId: string, workspaceId: string | null): Promise<LogVisibility> {
  const organisation = await em.findOneOrFail(organisations, { id: organisationId });
  const named = workspaceId === null ? {} : { id: workspaceId };
  const rows = await em.find(workspaces, { organisationId, ...named });
  const all = rows.map((workspace) => ({ id: workspace.id, settings: securitySettingsOf({ organisation, workspace }) }));
  const seen = all.filter((one) => one.settings.organisationAdminsViewLogs);
  if (seen.length === 0) throw refused();
  return {
    ofUser: null,
    hiddenWorkspaces: all.filter((one) => !one.settings.organisationAdminsViewLogs).map((one) => one.id),
    metadata: seen.every((one) => one.settings.organisationAdminsViewLogMetadata),
  };
}

async function visibilityForMember(em: EntityManager, user: User, workspaceId: string): Promise<LogVisibility> {
  const membership = await membershipOf(em, user, workspaceId);
  if (!membership) throw refused();
  const { manages, settings } = membership;
  const may = (forManagers: keyof SecuritySettings, forMembers: keyof SecuritySettings) =>
    settings[manages ? forManagers : forMembers];
  if (!may('managersViewLogs', 'membersViewLogs')) throw refused();
  return {
    ofUser: may('managersViewAllData', 'membersViewAllData') ? null : user.id,
    hiddenWorkspaces: [],
    metadata: may('managersViewLogMetadata', 'membersViewLogMetadata'),
  };
}

const refused = () => forbidden('Your role does not allow reading logs of this workspace');
