import type { IncomingMessage, ServerResponse } from 'node:http';
import { cachedRepliesPath } from '../../core/contract/protocol/cached-replies.ts';
import { failureFields } from '../failure-fields.ts';
import type { AdminServices } from '../http/admin-services.ts';
import { isClusterKey } from '../http/caller/client-address.ts';
import type { BeginCount } from '../http/count-requests.ts';
import { errorReply, toAdminError } from '../http/reply/write-error.ts';
import { type CachedReplies, findBytesMax } from '../resources/cached-replies/serve-cached-replies.ts';

const path = `${cachedRepliesPath}/find`;

/** Serves a request on the bare server. Returns false, and does nothing, for all other requests. */
export type ServeFind = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Serves the look-up of a cached reply without the layers of other routes: every hit from the shared store waits for it, and web requests,
 * routing and streams took most of its instructions. Requests without the cluster key or with a body of another size take the usual way, which
 * replies with the error.
 */
export function createServeFind(
  { settings, log }: Pick<AdminServices, 'settings' | 'log'>,
  replies: CachedReplies,
  beginCount: BeginCount,
): ServeFind {
  return (request, response) => {
    if (request.url !== path || request.method !== 'POST') return false;
    const { authorization = '', 'content-length': length } = request.headers;
    const bytes = Number(length ?? 0);
    if (!(bytes > 0 && bytes <= findBytesMax)) return false;
    if (!authorization.startsWith('Bearer ') || !isClusterKey(authorization.slice('Bearer '.length), settings)) return false;
    const end = beginCount('internal', 'POST');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      replies
        .find(body)
        .then((found) => {
          response.writeHead(200, ['content-type', 'application/octet-stream', 'content-length', String(found.length)]);
          response.end(found);
          end(200);
        })
        .catch(async (thrown: unknown) => {
          const error = toAdminError(thrown);
          if (error.status >= 500) log.error({ code: error.code, ...failureFields(thrown) }, 'internal request failed');
          const reply = errorReply(error, {});
          response.writeHead(reply.status, Object.fromEntries(reply.headers));
          response.end(await reply.text());
          end(reply.status);
        });
    });
    return true;
  };
}
