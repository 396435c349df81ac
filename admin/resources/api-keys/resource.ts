import { defineResource, idOfReply, type Sample, type SamplesMade, type SampleTenant } from '../../define-resource.ts';
import { apiKeys } from './entity.ts';
import { announceRotations, forgetOldSecrets } from './rotation-notices.ts';
import { apiKeyRoutes } from './routes.ts';
import { readApiKeyDocuments } from './to-document.ts';
import { deleteKeysOfUser, releaseGrantsOfUser } from './user-keys.ts';

export const apiKeysResource = defineResource({
  name: 'api-keys',
  after: ['users', 'workspaces', 'configs', 'providers'],
  entities: [apiKeys],
  routes: apiKeyRoutes,
  documents: [
    {
      kind: 'api-key',
      read: async ({ database }, id) => (await readApiKeyDocuments(database, [id])).documents[0] ?? null,
    },
  ],
  dependents: {
    config: [
      {
        what: 'API keys',
        async refuse(em, { id, organisationId }) {
          const users = await em.count(apiKeys, { organisationId, defaultConfigId: id });
          return users === 0 ? null : `This config is the default of ${users} API keys. Change them first`;
        },
      },
    ],
    workspace: [
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
    ],
    user: [
      {
        what: 'API keys',
        async remove(change, { id, organisationId }) {
          await deleteKeysOfUser(change, { organisationId, userId: id, workspaceId: null });
          await change.tx.flush();
          await releaseGrantsOfUser(change.tx, { id, organisationId });
        },
      },
    ],
  },
  housekeeping: [
    {
      name: 'delete secrets that were rotated',
      run: ({ database, clock }) => forgetOldSecrets(database.em(), new Date(clock.now())),
    },
    {
      name: 'mail rotation notices',
      run: ({ database, mailer, clock, isClosing }) => announceRotations(database.em(), mailer, new Date(clock.now()), isClosing),
    },
  ],
  samples: [
    sampleOf('organisation/service', false, () => ({})),
    sampleOf('workspace/service', true, ({ workspaceId }) => ({ workspace_id: workspaceId })),
    sampleOf('workspace/user', true, ({ workspaceId }, made) => ({ workspace_id: workspaceId, user_id: made['/admin/users'] })),
  ],
});

function sampleOf(
  type: string,
  ofWorkspace: boolean,
  owner: (tenant: SampleTenant, made: SamplesMade) => Record<string, unknown>,
): Sample {
  return {
    create: `/api-keys/${type}`,
    item: '/api-keys/{id}',
    list: '/api-keys',
    body: (tenant, made, n, mark) => ({ ...owner(tenant, made), name: `${mark} key ${n}`, scopes: ['configs.list'] }),
    update: (_, __, mark) => ({ name: `${mark} changed` }),
    ofWorkspace,
    idOf: idOfReply,
  };
}
