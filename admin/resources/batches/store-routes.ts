import { Hono } from 'hono';
import { adminBodyBytesMax } from '../../../core/contract/protocol/control-plane-calls/body-limit.ts';
import { ownBatchPrefix } from '../../../core/contract/provider/own-store.ts';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { readBytes } from '../../http/request/read-body.ts';
import { addJob } from '../../jobs/add-job.ts';
import { readFileBytes } from '../files/file-bytes.ts';
import { managerOf } from '../files/find-file.ts';
import { type Owner, readOwner } from '../files/owner.ts';
import { pageAfter, readListQuery } from '../files/page-after.ts';
import { noSuch, StoreError } from '../files/store-error.ts';
import { bytesReply, listReply } from '../files/store-replies.ts';
import { rowIdOf } from '../files/to-reply.ts';
import { batchJobKind, createBatch } from './create-batch.ts';
import { type Batch, batches } from './entity.ts';
import { cancelBatch } from './run-batch.ts';
import { countsOf, isOver, toBatchReply } from './to-reply.ts';

/** Routes of batches for gateways, below `/internal/v1/store`. */
export function batchStoreApp(services: AdminServices): Hono {
  const app = new Hono();

  app.post('/batches', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const sent: unknown = JSON.parse(Buffer.from(await readBytes(c.req, adminBodyBytesMax)).toString('utf8'));
    const batch = await createBatch(services, owner, sent);
    services.wakeJobs();
    return c.json(await replyOf(managerOf(services, owner)(), batch));
  });

  app.get('/batches', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const query = readListQuery((name) => c.req.query(name), 100);
    const em = managerOf(services, owner)();
    const after = query.after === null ? null : await findBatch(em, owner, query.after);
    const rows = await em.find(
      batches,
      { ...own(owner), ...pageAfter(after, query.order) },
      {
        orderBy: { createdAt: query.order, id: query.order },
        limit: query.limit + 1,
      },
    );
    const data = [];
    for (const batch of rows.slice(0, query.limit)) data.push(await replyOf(em, batch));
    return c.json(listReply(data, rows.length > query.limit));
  });

  app.get('/batches/:id', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const em = managerOf(services, owner)();
    const batch = await findBatch(em, owner, c.req.param('id'));
    return c.json(toBatchReply(batch, await countsOf(em, batch), c.req.query('include_provider_details') === 'true'));
  });

  app.get('/batches/:id/output', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const newManager = managerOf(services, owner);
    const batch = await findBatch(newManager(), owner, c.req.param('id'));
    if (!isOver(batch) || batch.status === 'failed') {
      throw new StoreError(400, `id: the batch is ${batch.status} and has no output yet`, 'id');
    }
    return bytesReply(c, bothFiles(newManager, batch), { 'content-type': 'application/jsonl' });
  });

  app.post('/batches/:id/cancel', async (c) => {
    const owner = readOwner((name) => c.req.header(name));
    const newManager = managerOf(services, owner);
    const found = await findBatch(newManager(), owner, c.req.param('id'));
    await newManager().transactional(async (tx) => {
      await cancelBatch(services, tx, found);
      if (!isOver(found)) await addJob(tx, { kind: batchJobKind, key: found.id, organisationId: owner.organisationId });
    });
    services.wakeJobs();
    const em = newManager();
    return c.json(await replyOf(em, await findBatch(em, owner, c.req.param('id'))));
  });
  return app;
}

function own({ organisationId, workspaceId }: Owner) {
  return { organisationId, workspaceId };
}

async function findBatch(em: EntityManager, owner: Owner, id: string): Promise<Batch> {
  const row = rowIdOf(ownBatchPrefix, id);
  const batch = row === null ? null : await em.findOne(batches, { ...own(owner), id: row });
  if (!batch) throw noSuch('batch', id);
  return batch;
}

async function replyOf(em: EntityManager, batch: Batch) {
  return toBatchReply(batch, await countsOf(em, batch));
}

async function* bothFiles(newManager: () => EntityManager, { outputFileId, errorFileId, organisationId }: Batch) {
  yield* readFileBytes(newManager, { id: outputFileId, organisationId });
  yield* readFileBytes(newManager, { id: errorFileId, organisationId });
}
