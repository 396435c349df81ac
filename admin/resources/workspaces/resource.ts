import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { defineResource, idOfReply, type Sample } from '../../define-resource.ts';
import { toWorkspaceNameDocument } from '../../identity/jwt/documents.ts';
import { workspaces } from './entity.ts';
import { workspaceRoutes } from './routes.ts';
import { toWorkspaceDocument } from './to-document.ts';

export const workspacesResource = defineResource({
  name: 'workspaces',
  after: ['organisations', 'users'],
  entities: [workspaces],
  routes: workspaceRoutes,
  documents: [
    { kind: 'workspace', read: async ({ database }, id) => (isUuid(id) ? toWorkspaceDocument(database.em(), id) : null) },
    { kind: 'workspace-name', read: ({ database }, id) => toWorkspaceNameDocument(database.em(), id) },
  ],
  dependents: {
    config: [
      {
        what: 'workspaces',
        async refuse(em, { id, organisationId }) {
          const found = await em.findOne(workspaces, { organisationId, userApiKeyConfigId: id });
          if (!found) return null;
          return `This config is the default of the user keys of workspace ${found.slug}. Change that setting first`;
        },
      },
    ],
  },
  samples: [sampleAt('/admin/workspaces', 'workspace'), sampleAt('/workspaces', 'further workspace')],
});

function sampleAt(path: string, what: string): Sample {
  return {
    create: path,
    item: `${path}/{workspaceId}`,
    list: path,
    body: (_, __, n, mark) => ({ name: `${mark} ${what} ${n}`, description: mark }),
    update: (_, __, mark) => ({ description: `${mark} changed` }),
    remove: (n, mark) => ({ name: `${mark} ${what} ${n}` }),
    ofWorkspace: false,
    idOf: idOfReply,
  };
}
