import { Hono } from 'hono';
import { ownFilePrefix } from '../../../core/contract/provider/own-store.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { storedFiles } from './entity.ts';
import { readFileBytes } from './file-bytes.ts';
import { findFile, managerOf, nowOf, visible } from './find-file.ts';
import { readOwner } from './owner.ts';
import { type ListQuery, pageAfter, readListQuery } from './page-after.ts';
import { receiveFile } from './receive-file.ts';
import { noSuch, StoreError } from './store-error.ts';
import { bytesReply, listReply } from './store-replies.ts';
import { rowIdOf, toFileReply } from './to-reply.ts';

/** Routes of files for gateways, below `/internal/v1/store`. */
export function fileStoreApp(services: AdminServices): Hono {
  const app = new Hono();

  app.post('/files', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const body = c.req.raw.body;
    if (!body) throw new StoreError(400, 'file: a form with a file is expected', 'file');
    const file = await receiveFile(managerOf(services, owner), {
      owner,
      contentType: c.req.header('content-type') ?? '',
      purpose: c.req.header('svc-file-purpose') ?? null,
      body: body as unknown as AsyncIterable<Uint8Array>,
      bytesMax: services.settings.fileBytesMax,
      quota: { bytesMax: services.settings.workspaceFileBytesMax, filesMax: services.settings.workspaceFilesMax },
      now: nowOf(services),
    });
    return c.json(toFileReply(file));
  });

  app.get('/files', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const query: ListQuery = readListQuery((name) => c.req.query(name), 10_000);
    const purpose = c.req.query('purpose');
    const now = nowOf(services);
    const where = { ...visible(owner, now), ...(purpose === undefined ? {} : { purpose }) };
    const em = managerOf(services, owner)();
    const after =
      query.after === null
        ? null
        : await em.findOne(storedFiles, { ...visible(owner, now), id: rowIdOf(ownFilePrefix, query.after) ?? nil });
    if (query.after !== null && !after) throw noSuch('file', query.after);
    const rows = await em.find(
      storedFiles,
      { ...where, ...pageAfter(after, query.order) },
      {
        orderBy: { createdAt: query.order, id: query.order },
        limit: query.limit + 1,
      },
    );
    return c.json(listReply(rows.slice(0, query.limit).map(toFileReply), rows.length > query.limit));
  });

  app.get('/files/:id', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    return c.json(toFileReply(await findFile(services, owner, c.req.param('id'))));
  });

  app.get('/files/:id/content', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const newManager = managerOf(services, owner);
    const file = await findFile(services, owner, c.req.param('id'));
    return bytesReply(c, readFileBytes(newManager, file), {
      // Browsers must save the file, not display it.
      'content-type': 'application/octet-stream',
      'content-length': String(file.bytes),
      'content-disposition': `attachment; filename="${file.filename.replace(/[^\w. -]/g, '_')}"`,
      'x-content-type-options': 'nosniff',
    });
  });

  app.delete('/files/:id', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const file = await findFile(services, owner, c.req.param('id'));
    await managerOf(services, owner)().nativeDelete(storedFiles, { id: file.id, organisationId: owner.organisationId });
    return c.json({ id: ownFilePrefix + file.id, object: 'file', deleted: true });
  });
  return app;
}

const nil = '00000000-0000-0000-0000-000000000000';
