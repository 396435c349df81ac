import type { EntityManager } from '../../db/open-database.ts';
import type { Change } from '../../db/write-change.ts';
import { apiKeys } from '../api-keys/entity.ts';
import { configs } from '../configs/entity.ts';
import { integrations, integrationWorkspaces } from '../integrations/entity.ts';
import { archiveIntegration } from '../integrations/service.ts';
import { providers } from '../providers/entity.ts';
import { forgetWorkspace } from '../secret-references/users-of.ts';
import { workspaceExclusions } from '../workspace-exclusions/entity.ts';
import { workspaceMembers } from '../workspace-users/entity.ts';
import type { Workspace } from './entity.ts';

/** Something that lives in a workspace. */
export interface Dependent {
  /** Completes "This workspace still has 3 …". */
  readonly what: string;
  /** How many of it keep the workspace from being deleted. */
  count(em: EntityManager, workspace: Workspace): Promise<number>;
  /** Takes it along, with the events gateways need. */
  remove(change: Change, workspace: Workspace): Promise<void>;
}

/** All that lives in workspaces, in the order in which it can go. A resource with a workspace adds its line. */
export const dependents: readonly Dependent[] = [
  {
    what: 'API keys',
    count: (em, { id, organisationId }) => em.count(apiKeys, { organisationId, workspaceId: id }),
    async remove({ tx, emit }, { id, organisationId }) {
      const where = { organisationId, workspaceId: id };
      for (const key of await tx.find(apiKeys, where, { fields: ['publicId'], orderBy: { id: 'asc' } })) {
        emit({ kind: 'api-key', id: key.publicId, op: 'delete' });
      }
      await tx.nativeDelete(apiKeys, where);
    },
  },
  {
    what: 'providers',
    count: (em, { id, organisationId }) => em.count(providers, { organisationId, workspaceId: id }),
    async remove({ tx, emit }, { id, organisationId }) {
      for (const row of await tx.find(providers, { organisationId, workspaceId: id }, { orderBy: { slug: 'asc' } })) {
        emit({ kind: 'provider', id: `${id}/${row.slug}`, op: 'delete' });
        tx.remove(row);
      }
      await tx.flush();
    },
  },
  {
    what: 'configs',
    count: (em, { id, organisationId }) => em.count(configs, { organisationId, workspaceId: id, status: 'active' }),
    async remove({ tx, emit }, { id, organisationId }) {
      for (const row of await tx.find(
        configs,
        { organisationId, workspaceId: id, status: 'active' },
        { orderBy: { slug: 'asc' } },
      )) {
        emit({ kind: 'config', id: `${id}/${row.slug}`, op: 'delete' });
        row.status = 'archived';
        row.isDefault = false;
      }
    },
  },
  {
    what: 'integrations',
    count: (em, { id, organisationId }) => em.count(integrations, { organisationId, workspaceId: id, status: 'active' }),
    async remove(change, { id, organisationId }) {
      const { tx } = change;
      for (const row of await tx.find(integrations, { organisationId, workspaceId: id, status: 'active' })) {
        await archiveIntegration(change, row);
      }
    },
  },
  {
    what: 'shared integrations',
    count: async () => 0,
    remove: async ({ tx }, { id, organisationId }) => {
      await tx.nativeDelete(integrationWorkspaces, { organisationId, workspaceId: id });
    },
  },
  {
    what: 'uses of secret references',
    count: async () => 0,
    remove: forgetWorkspace,
  },
  {
    what: 'members',
    count: async () => 0,
    remove: async ({ tx }, { id, organisationId }) => {
      await tx.nativeDelete(workspaceMembers, { organisationId, workspaceId: id });
    },
  },
  {
    what: 'exclusions',
    count: async () => 0,
    remove: async ({ tx }, { id, organisationId }) => {
      await tx.nativeDelete(workspaceExclusions, { organisationId, workspaceId: id });
    },
  },
];
