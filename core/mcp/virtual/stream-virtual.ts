import type { Identity } from '../../contract/plugin/context.ts';
import { isVirtual, type McpVirtualServerDocument } from '../../contract/protocol/mcp/mcp-virtual.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { ClientMessage } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { Work } from '../exchange.ts';
import { subscriptionKey, subscriptionNotices } from '../revisions/listen-in-session.ts';
import { eventReply } from '../sse/sse-reply.ts';
import { selectedItems } from './selections.ts';
import type { Sources } from './serve-virtual.ts';
import { streamChanges, type Watched } from './stream-changes.ts';

/**
 * Sends notices of changed lists: when the virtual server, a server behind it, or the list of such a server changes. `message` is
 * `subscriptions/listen`, null for the stream of clients with sessions.
 */
export function streamVirtual(
  work: Pick<Work, 'ctx' | 'sink' | 'parts' | 'options'>,
  first: McpVirtualServerDocument,
  sources: Sources,
  message: ClientMessage | null,
): Promise<AttemptReply> {
  const { ctx, options } = work;
  let document = first;
  const reader = options.services.documents;
  const { workspaceId } = ctx.identity as Identity;
  const wanted = message === null ? null : isObject(message.params.notifications) ? message.params.notifications : {};
  const { prompts, resources } = selectedItems(first);
  const lacks = { promptsListChanged: prompts.length === 0, resourcesListChanged: resources.length === 0 };
  const offered = Object.keys(subscriptionNotices).filter((name) => lacks[name as keyof typeof lacks] !== true);
  const granted = offered.filter((name) => wanted === null || wanted[name] === true);
  const _meta = message === null ? null : { [subscriptionKey]: message.id };
  const watched: Watched = {
    async documents() {
      const found = await reader.get('mcp-server', `${workspaceId}/${first.slug}`);
      if (!found || !isVirtual(found) || found.id !== first.id) return null;
      document = found;
      const slugs = [...new Set([...found.tools, ...found.prompts, ...found.resources].map(({ server }) => server))];
      return [found, ...(await Promise.all(slugs.map((slug) => reader.get('mcp-server', `${workspaceId}/${slug}`))))];
    },
    async lists() {
      const { tools, items } = sources(document);
      const read: Record<string, () => Promise<readonly JsonObject[]>> = {
        toolsListChanged: async () => (await tools.list()).tools,
        promptsListChanged: async () => (await items.list('prompts/list')).items,
        resourcesListChanged: async () => [
          ...(await items.list('resources/list')).items,
          ...(await items.list('resources/templates/list')).items,
        ],
      };
      const all = granted.map(async (name) => [subscriptionNotices[name], (await read[name]?.()) ?? []] as const);
      return Object.fromEntries(await Promise.all(all));
    },
  };
  const reply = eventReply(work, null);
  reply.open();
  if (_meta !== null) {
    const notifications = Object.fromEntries(granted.map((name) => [name, true]));
    reply.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } });
  }
  const noticeOf = (method: string): JsonObject => ({ jsonrpc: '2.0', method, ...(_meta === null ? {} : { params: { _meta } }) });
  return streamChanges(work, reply, watched, noticeOf);
}
