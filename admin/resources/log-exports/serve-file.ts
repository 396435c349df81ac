import type { Context, Hono } from 'hono';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { clientOrigin } from '../../http/caller/client-address.ts';
import { missing } from '../../http/errors.ts';
import { failedReply } from '../../http/reply/failed-reply.ts';
import { limitedReads } from '../../object-store/limited-reads.ts';
import { type LogExport, logExports } from './entity.ts';
import { formatOf } from './formats.ts';
import { fromPart, readParts } from './parts.ts';
import { isSigned } from './signed-url.ts';

/** Milliseconds that a download waits for one piece. Gateways wait 30 s for the reply. */
const pieceReadMs = 20_000;

/** Serves the files of exports to everyone with a signed URL. */
export function serveExportFiles(app: Hono, bases: readonly string[], services: AdminServices): void {
  const serve = async (c: Context) => {
    try {
      services.limits.perAddress.take(clientOrigin(c, services).address);
      return await toResponse(services, await findSigned(services, c));
    } catch (thrown) {
      return failedReply(services, thrown, 'GET /logs/exports/:exportId/file');
    }
  };
  for (const base of bases) app.get(`${base}/logs/exports/:exportId/file`, serve);
}

/** Every refusal is the same 404, so that the URL reveals nothing about exports. */
async function findSigned({ settings, clock, database }: AdminServices, c: Context): Promise<LogExport> {
  const refused = missing('The URL is invalid or has expired. Request a new one from the route of the download');
  const id = c.req.param('exportId') ?? '';
  const [expires, signature] = [c.req.query('expires') ?? '', c.req.query('signature') ?? ''];
  if (!isUuid(id) || !isSigned(settings, id, expires, signature, clock.now())) throw refused;
  const now = new Date(clock.now());
  const row = await database.em().findOne(logExports, { id, status: 'success', archivedAt: null, expiresAt: { $gt: now } });
  if (!row) throw refused;
  return row;
}

/** Reads the first piece before the reply, so that an unreachable store gives an error instead of a file that is cut. */
async function toResponse({ database, vault, objects: store }: AdminServices, row: LogExport): Promise<Response> {
  const objects = store && limitedReads(store, pieceReadMs);
  const pieces = piecesOf({ newManager: () => database.emOf(row.organisationId), vault, objects, row });
  const first = await pieces.next();
  return new Response(ReadableStream.from(startingWith(first, pieces)) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': formatOf(row.format).contentType,
      'content-length': String(row.fileBytes ?? 0),
      'content-disposition': `attachment; filename="logs-${row.id}.${row.format}"`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  });
}

async function* startingWith<T>(first: IteratorResult<T>, rest: AsyncIterable<T>): AsyncGenerator<T> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

async function* piecesOf(store: Parameters<typeof readParts>[0]): AsyncGenerator<Uint8Array> {
  const { format, parts } = store.row;
  const { source } = formatOf(format);
  // A writer makes one more piece, the end of the file.
  if (typeof source === 'function') return yield* readParts(store, 'file', parts + 1);
  for await (const part of readParts(store, 'rows', parts)) yield source === 'lines' ? await fromPart(part) : part;
}
