import { findPage } from '../../db/find-page.ts';
import { missing } from '../../http/errors.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { requireEncryptionKey } from '../../secrets/key-checks.ts';
import { logStoreOf } from '../logs/log-store.ts';
import { logExports } from './entity.ts';
import { createBody, downloadReply, listQuery, listReply, messageReply, readReply, savedReply, updateBody } from './schema.ts';
import {
  archiveExport,
  cancelExport,
  createExport,
  findExport,
  ownExports,
  requireContents,
  startExport,
  updateExport,
} from './service.ts';
import { signedUrl } from './signed-url.ts';
import { toLogExportReply } from './to-reply.ts';

const shared = { tenant: 'workspace', resource: 'log_exports', scopes: ['logs.export'], query: tenantQuery, body: null } as const;

export const logExportRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'GET',
    path: '/logs/exports',
    summary: 'List exports of logs, newest first',
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle(call) {
      const page = { ...pageOf(call.query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(call.em, logExports, ownExports(call), page);
      return { object: 'list', total, data: rows.map(toLogExportReply) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/logs/exports',
    summary: 'Create an export of logs as a draft',
    action: 'create',
    body: createBody,
    reply: savedReply,
    async handle(call) {
      const { actor, organisationId } = call;
      const caller = { actor, organisationId, workspaceId: call.workspaceId ?? '' };
      const row = await call.write((change) => createExport(change, logStoreOf(call.services, change.tx), caller, call.body));
      call.tag(row.revision);
      return { id: row.id, total: row.total, object: 'export' };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'GET',
    path: '/logs/exports/:exportId',
    summary: 'Read an export of logs with its progress',
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await findExport(call.em, call, call.params.exportId ?? '');
      call.tag(row.revision);
      return toLogExportReply(row);
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'PUT',
    path: '/logs/exports/:exportId',
    summary: 'Change an export of logs that is a draft',
    action: 'update',
    body: updateBody,
    reply: savedReply,
    async handle(call) {
      const row = await call.write(async (change) => {
        const found = await findExport(change.tx, call, call.params.exportId ?? '');
        call.match(found);
        await updateExport(change, logStoreOf(call.services, change.tx), call.actor, found, call.body);
        return found;
      });
      return { id: row.id, total: row.total, object: 'export' };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'POST',
    path: '/logs/exports/:exportId/start',
    summary: 'Start an export of logs, or a failed one again',
    action: 'start',
    reply: messageReply,
    async handle(call) {
      await call.write(async (change) =>
        startExport(change, call.actor, await findExport(change.tx, call, call.params.exportId ?? '')),
      );
      call.services.wakeJobs();
      return { message: 'The export has started', object: 'export' };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'POST',
    path: '/logs/exports/:exportId/cancel',
    summary: 'Stop an export of logs that is running',
    action: 'cancel',
    reply: messageReply,
    async handle(call) {
      await call.write(async (change) => cancelExport(change, await findExport(change.tx, call, call.params.exportId ?? '')));
      return { message: 'The export is stopped', object: 'export' };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'GET',
    path: '/logs/exports/:exportId/download',
    summary: 'Get a URL from which the file of a successful export can be downloaded for an hour',
    action: 'download',
    reply: downloadReply,
    async handle(call) {
      const row = await findExport(call.em, call, call.params.exportId ?? '');
      await requireContents(call.em, call.actor, row);
      const { clock, settings } = call.services;
      if (row.status !== 'success') throw missing(`The export has no file, because it is ${row.status}`);
      const endsAtMs = row.expiresAt?.getTime() ?? 0;
      if (endsAtMs <= clock.now()) throw missing('The file of this export has expired. Create a new export');
      // While ENCRYPTION_KEY is replaced, some control planes have the key of the database only.
      const encryptionKey = await requireEncryptionKey(call.services.database.em(), settings);
      const { url, expiresAt } = signedUrl({ publicUrl: settings.publicUrl, encryptionKey }, row.id, clock.now(), endsAtMs);
      return { signed_url: url, expires_at: expiresAt.toISOString() };
    },
  }),
  defineRoute({
    ...shared,
    tenant: 'either',
    method: 'DELETE',
    path: '/logs/exports/:exportId',
    summary: 'Delete an export of logs and its file',
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findExport(change.tx, call, call.params.exportId ?? '');
        call.match(found);
        await archiveExport(change, found);
      });
      return {};
    },
  }),
];
