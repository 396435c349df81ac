import type { McpVirtualServerDocument } from '../../contract/protocol/mcp-virtual.ts';
import { RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import { admit } from '../admit.ts';
import { virtualCallOf } from '../call-of.ts';
import type { Work } from '../exchange.ts';
import { findUsable } from '../find-server.ts';
import { callTool, listTools, receive, takeFromLimits } from '../forward.ts';
import { handshakeReply, listReply } from '../local-replies.ts';
import { serveSearch } from '../tool-search/serve-search.ts';
import { partialMeta } from '../tool-source.ts';
import { virtualSource } from './virtual-source.ts';

/** Serves an endpoint whose tools are those of several servers. It has no sessions. */
export async function serveVirtual(
  given: Omit<Work, 'server' | 'call' | 'tokenId'>,
  document: McpVirtualServerDocument,
): Promise<AttemptReply> {
  const { parts, options, ctx } = given;
  const work = { ...given, call: virtualCallOf(ctx, document) };
  ctx.mcp = work.call;
  if (ctx.request.method !== 'POST') {
    throw new RpcError(rpcCodes.notAcceptable, 'Method Not Allowed: virtual servers have no sessions', { status: 405 });
  }
  const { message } = await receive(work);
  const { slug: name, name: title, description: instructions } = document;
  const handshake = handshakeReply({ name, title, instructions }, message);
  if (handshake !== null) return handshake;

  const source = virtualSource({
    document,
    async find(server) {
      const found = await findUsable(ctx, options.services.documents, server);
      return found === null ? null : admit(parts, ctx, found);
    },
    list: (server) => listTools(work, server),
    call: (server, routed, shown) => callTool(work, server, routed, shown),
  });
  if (document.toolSearch) {
    const found = await serveSearch(message, source, () => takeFromLimits(work, message));
    if (found !== null) return found;
  }
  if (message.method === 'tools/call') return source.call(message);
  const listing = await source.list();
  if (listing.missing.length > 0) {
    const missing = listing.missing.map(({ server }) => server);
    options.services.log.warn({ server: document.slug, missing }, 'the list of a virtual MCP server is not complete');
  }
  return listReply(message, listing.tools, partialMeta(listing));
}
