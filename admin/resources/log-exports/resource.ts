import { defineResource, idOfReply } from '../../define-resource.ts';
import { logExportParts, logExports } from './entity.ts';
import { LogExports } from './migrations/202611222012-log-exports.ts';
import { logExportRoutes } from './routes.ts';
import { deleteExpiredFiles, exportJob } from './run-export.ts';
import { deleteParts, exportJobKind } from './service.ts';

export const logExportsResource = defineResource({
  name: 'log-exports',
  after: ['workspaces', 'organisations'],
  entities: [logExports, logExportParts],
  migrations: [{ name: '202611222012-log-exports', class: LogExports }],
  routes: logExportRoutes,
  jobs: [{ kind: exportJobKind, handler: exportJob }],
  housekeeping: [
    { name: 'delete the files of expired log exports', run: ({ database }) => deleteExpiredFiles(database.em(), new Date()) },
  ],
  dependents: {
    workspace: [
      {
        what: 'log exports',
        async remove({ tx }, { id, organisationId }) {
          for (const row of await tx.find(logExports, { organisationId, workspaceId: id })) await deleteParts(tx, row);
          await tx.nativeDelete(logExports, { organisationId, workspaceId: id });
        },
      },
    ],
  },
  samples: [
    {
      create: '/logs/exports',
      item: '/logs/exports/{exportId}',
      list: '/logs/exports',
      body: (tenant, _, n, mark) => ({
        workspace_id: tenant.workspaceId,
        filters: { ai_model: `model-${n}` },
        requested_data: ['id', 'cost'],
        description: `${mark} export ${n}`,
      }),
      update: (tenant, _, mark) => ({ workspace_id: tenant.workspaceId, description: `${mark} changed` }),
      ofWorkspace: true,
      idOf: idOfReply,
    },
  ],
});
