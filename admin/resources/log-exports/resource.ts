import { defineResource, idOfReply } from '../../define-resource.ts';
import { logExportParts, logExports } from './entity.ts';
import { LogExports } from './migrations/202611222012-log-exports.ts';
import { PartsInObjects } from './migrations/202611230640-parts-in-objects.ts';
import { deleteParts, deleteUnusedObjects } from './parts.ts';
import { logExportRoutes } from './routes.ts';
import { deleteExpiredFiles, exportJob } from './run-export.ts';
import { exportJobKind } from './service.ts';

export const logExportsResource = defineResource({
  name: 'log-exports',
  after: ['workspaces', 'organisations'],
  entities: [logExports, logExportParts],
  migrations: [
    { name: '202611222012-log-exports', class: LogExports },
    { name: '202611230640-parts-in-objects', class: PartsInObjects },
  ],
  routes: logExportRoutes,
  jobs: [{ kind: exportJobKind, handler: exportJob }],
  housekeeping: [
    { name: 'delete objects that no log export uses', run: ({ database }) => deleteUnusedObjects(database.em()) },
    {
      name: 'delete the files of expired log exports',
      run: ({ database, clock }) => deleteExpiredFiles(database.em(), new Date(clock.now())),
    },
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
