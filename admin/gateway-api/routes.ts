import { type Context, Hono } from 'hono';
import { type DocumentKind, documentKinds } from '../../core/contract/protocol/documents.ts';
import { type InstanceReply, reportBytesMax } from '../../core/contract/protocol/instances.ts';
import { keysQuestion, type RecordsReply } from '../../core/contract/protocol/internal-api.ts';
import { mcpTokenQuestion } from '../../core/contract/protocol/mcp/mcp-connection.ts';
import { toolReport } from '../../core/contract/protocol/mcp/tool-pins.ts';
import { contentBatchBytesMax } from '../../core/contract/protocol/record-contents.ts';
import { failureFields } from '../failure-fields.ts';
import type { AdminServices } from '../http/admin-services.ts';
import { isClusterKey } from '../http/caller/client-address.ts';
import { AdminError, invalid } from '../http/errors.ts';
import { errorReply, toAdminError } from '../http/reply/write-error.ts';
import { readBytes, readInternalJson } from '../http/request/read-body.ts';
import { validate } from '../http/request/validate.ts';
import { createRefusalStore } from '../identity/jwt/store-refusals.ts';
import { serveLeases } from '../leases/serve-leases.ts';
import { readApiKeyDocuments } from '../resources/api-keys/to-document.ts';
import { batchStoreApp } from '../resources/batches/store-routes.ts';
import type { CachedReplies } from '../resources/cached-replies/serve-cached-replies.ts';
import { storeReport } from '../resources/deployments/instances.ts';
import { storeErrorReply } from '../resources/files/store-error.ts';
import { fileStoreApp } from '../resources/files/store-routes.ts';
import { storeContents } from '../resources/logs/contents.ts';
import { createTokenService } from '../resources/mcp-connections/serve-tokens.ts';
import { readChanges } from './read-changes.ts';
import { reportBudgetEvents } from './report-budget-events.ts';
import { serveKeyCheck } from './serve-key-check.ts';
import { serveRates } from './serve-rates.ts';
import { storeBatch } from './store-records.ts';
import { storeToolReport } from './store-tool-report.ts';

/** Maximum size of a batch of records in bytes: 4 MiB of records and the brackets around them. */
const batchBytesMax = 4_259_840;

/** Maximum size of a list of key ids in bytes: the maximum number of ids, each of maximum length. */
const keysBytesMax = 131_072;
/** Maximum size of a lease request in bytes: a thousand asks, with a margin. */
const leasesBytesMax = 1_048_576;
/** Maximum size of a report of rejected JWTs in bytes: two hundred, with long paths. */
const refusalsBytesMax = 1_048_576;
/** Maximum size of the tool definitions of one MCP server in bytes. */
const toolReportBytesMax = 16_777_216;

/** The API of `core/contract/protocol/internal-api.ts`, to be mounted below `/internal/v1`. It requires the cluster key. */
export function internalApp(services: AdminServices, replies: CachedReplies): Hono {
  const app = new Hono();
  const storeRefusals = createRefusalStore(services);
  const tokenOf = createTokenService(services);
  const reportBudgets = (): void => services.background.run(() => reportBudgetEvents(services));
  app.use('*', async (c, next) => {
    const bearer = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
    if (!isClusterKey(bearer, services.settings)) throw new AdminError('AB05', 'The cluster key is required');
    await next();
  });
  app.onError((thrown) => {
    const error = toAdminError(thrown);
    if (error.status >= 500) {
      services.log.error({ code: error.code, ...failureFields(thrown) }, 'internal request failed');
    }
    return errorReply(error, {});
  });

  app.get('/documents/:kind/:id', async (c) => {
    const { kind, id } = c.req.param();
    if (!isDocumentKind(kind)) throw invalid('kind: not a kind of document');
    return c.json(await services.readDocument(kind, id));
  });

  app.post('/api-keys', async (c: Context) => {
    const { ids } = validate(keysQuestion, await readInternalJson(c.req, keysBytesMax), 'body');
    return c.json(await readApiKeyDocuments(services.database, ids));
  });

  app.get('/changes', async (c) => {
    const after = Number(c.req.query('after') ?? '0');
    if (!Number.isSafeInteger(after) || after < 0) throw invalid('after: a revision is expected');
    return c.json(await readChanges(services.database.em(), after, c.req.query('mark') ?? null));
  });

  app.get('/key-check', async (c) => c.json(await serveKeyCheck(services)));

  app.post('/leases', async (c: Context) =>
    c.json(await serveLeases(services, await readBytes(c.req, leasesBytesMax), reportBudgets)),
  );

  app.post('/token-refusals', async (c: Context) => {
    await storeRefusals(await readBytes(c.req, refusalsBytesMax));
    return c.json({});
  });

  app.post('/mcp-tools', async (c: Context) => {
    await storeToolReport(services, validate(toolReport, await readInternalJson(c.req, toolReportBytesMax), 'body'));
    return c.json({});
  });
  app.post('/mcp-tokens', async (c: Context) =>
    c.json(await tokenOf(validate(mcpTokenQuestion, await readInternalJson(c.req, keysBytesMax), 'body'))),
  );

  app.post('/instances', async (c: Context) => {
    await storeReport(services, await readInternalJson(c.req, reportBytesMax));
    return c.json({ nowMs: services.clock.now() } satisfies InstanceReply);
  });

  app.route('/cached-replies', replies.app);

  app.get('/rates', async (c) => c.json(await serveRates(services, c.req.query())));

  app.post('/records', async (c: Context) => {
    const bytes = await readBytes(c.req, batchBytesMax);
    const reply: RecordsReply = await storeBatch(services.storeRecords, bytes, services.log);
    reportBudgets();
    return c.json(reply);
  });
  app.post('/record-contents', async (c: Context) => {
    const bytes = await readBytes(c.req, contentBatchBytesMax);
    services.exportContents(await storeContents(services.database.em(), services, bytes));
    return c.json({});
  });
  const store = new Hono();
  store.route('/', fileStoreApp(services));
  store.route('/', batchStoreApp(services));
  store.onError((thrown) => {
    const reply = storeErrorReply(thrown);
    if (reply.status >= 500) services.log.error(failureFields(thrown), 'a request for a file or batch failed');
    return reply;
  });
  app.route('/store', store);
  return app;
}

function isDocumentKind(text: string): text is DocumentKind {
  return (documentKinds as readonly string[]).includes(text);
}
