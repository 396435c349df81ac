import type { McpVirtualServerDocument } from '../../contract/protocol/mcp/mcp-virtual.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import { admit } from '../admit.ts';
import { virtualCallOf } from '../call-of.ts';
import type { Work } from '../exchange.ts';
import { callBehind, listItemsOf, listTools, receive, takeFromLimits } from '../forward.ts';
import { lists } from '../lists/capabilities.ts';
import { handshakeReply, itemsReply, listReply } from '../local-replies/local-replies.ts';
import { type MissingServer, partialMeta } from '../local-replies/tool-source.ts';
import { findUsable } from '../server/find-server.ts';
import { serveSearch } from '../tool-search/serve-search.ts';
import type { Selection } from './list-selected.ts';
import { selectedItems } from './selections.ts';
import { streamVirtual } from './stream-virtual.ts';
import { virtualItems } from './virtual-items.ts';
import { virtualSource } from './virtual-source.ts';

/** Serves an endpoint with the tools, prompts and resources of several servers. It has no sessions. */
export async function serveVirtual(
  given: Omit<Work, 'server' | 'call' | 'tokenId'>,
  document: McpVirtualServerDocument,
): Promise<AttemptReply> {
  const { parts, options, ctx } = given;
  const work = { ...given, call: virtualCallOf(ctx, document) };
  ctx.mcp = work.call;
  if (ctx.request.method === 'DELETE') {
    throw new RpcError(rpcCodes.notAcceptable, 'Method Not Allowed: virtual servers have no sessions', { status: 405 });
  }
  const find = async ({ server, serverId }: Selection) => {
    const found = await findUsable(ctx, options.services.documents, server);
    // The slug may have passed to another server meanwhile.
    return found === null || found.id !== serverId ? null : admit(parts, ctx, found);
  };
  const sources = (one: McpVirtualServerDocument) => ({
    tools: virtualSource({
      document: one,
      find,
      list: (server) => listTools(work, server),
      call: (server, routed, shown) => callBehind(work, server, routed, shown),
    }),
    items: virtualItems({
      document: one,
      find,
      list: (server, method) => listItemsOf(work, server, method),
      call: (server, routed, shown) => callBehind(work, server, routed, shown),
    }),
  });
  if (ctx.request.method === 'GET') return streamVirtual(work, document, sources, null);
  const { message } = await receive(work);
  const { slug: name, name: title, description: instructions } = document;
  const { prompts, resources } = selectedItems(document);
  const offers = { hasPrompts: prompts.length > 0, hasResources: resources.length > 0, hasNotices: true };
  const handshake = handshakeReply({ name, title, instructions, ...offers }, message);
  if (handshake !== null) return handshake;
  if (message.method === 'subscriptions/listen') return streamVirtual(work, document, sources, message);

  const { tools, items } = sources(document);
  if (document.toolSearch) {
    const found = await serveSearch(message, tools, () => takeFromLimits(work, message));
    if (found !== null) return found;
  }
  if (message.method === 'tools/call') return tools.call(message);
  if (message.method === 'tools/list') {
    const listing = await tools.list();
    return listReply(message, listing.tools, noted(listing.missing));
  }
  const list = lists[message.method ?? ''];
  if (list === undefined) return items.call(message);
  const listing = await items.list(message.method as string);
  return itemsReply(message, list.member, listing.items, noted(listing.missing));

  function noted(missing: readonly MissingServer[]): JsonObject | null {
    if (missing.length > 0) {
      const servers = missing.map(({ server }) => server);
      options.services.log.warn({ server: document.slug, missing: servers }, 'the list of a virtual MCP server is not complete');
    }
    return partialMeta({ missing });
  }
}

/** The tools and the other items of a virtual server. */
export type Sources = (document: McpVirtualServerDocument) => {
  readonly tools: ReturnType<typeof virtualSource>;
  readonly items: ReturnType<typeof virtualItems>;
};
