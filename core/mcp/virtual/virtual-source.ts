import { allItems, type McpVirtualServerDocument, type VirtualTool } from '../../contract/protocol/mcp/mcp-virtual.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import type { ToolList } from '../lists/tool-lists.ts';
import type { ToolSource } from '../local-replies/tool-source.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import { toolCall } from '../sessions/routed-message.ts';
import { listSelected, type Selection } from './list-selected.ts';
import { shownTool } from './virtual-tools.ts';
import { errorOf, listWithin } from './within-time.ts';

export interface VirtualParts {
  readonly document: McpVirtualServerDocument;
  /** Returns the settings of the server behind a selection; null if it does not exist or the caller has no access to it. */
  find(selection: Selection): Promise<ServerSettings | null>;
  list(server: ServerSettings): Promise<ToolList>;
  /** Calls a tool of a server. `name` is the name that the client used. */
  call(server: ServerSettings, message: ClientMessage, name: string): Promise<AttemptReply>;
}

/** The tools of a virtual server. Access, flags and pins of the servers behind it apply. */
export function virtualSource({ document, find, list, call }: VirtualParts): ToolSource {
  return {
    async list() {
      const { items: tools, missing } = await listSelected<VirtualTool>({
        ...{ selections: document.tools, listTimeoutMs: document.listTimeoutMs, key: 'name', find },
        itemOf: ({ tool }) => tool,
        async read(server) {
          const { tools } = await list(server);
          return tools.filter((tool) => server.isEnabled('tool', String(tool.name)) && server.isApproved(tool));
        },
        show: (tool, selection, isAll) =>
          shownTool(tool, isAll ? { ...selection, name: `${selection.name}${tool.name}` } : selection),
      });
      return { tools, missing };
    },
    async call(message) {
      const { name, arguments: sent } = message.params;
      const selected = document.tools.find((one) => one.tool !== allItems && one.name === name) ?? (await ofAllTools(name));
      const server = selected ? await find(selected) : null;
      if (!selected || server === null) {
        const text = `Tool '${String(name).slice(0, 200)}' not found`;
        throw new RpcError(rpcCodes.invalidParams, text, { id: message.id, status: 200 });
      }
      const all = { ...(isObject(sent) ? sent : {}), ...selected.arguments };
      return call(server, toolCall(message, selected.tool, all), selected.name);
    },
  };

  /** Returns the tool of this name among all tools of a server; undefined if no server lists it. */
  async function ofAllTools(name: unknown): Promise<VirtualTool | undefined> {
    if (typeof name !== 'string') return undefined;
    const all = document.tools.filter((one) => one.tool === allItems && name.startsWith(one.name));
    let thrown: unknown;
    for (const one of all) {
      const tool = name.slice(one.name.length);
      const found = await find(one);
      if (found === null) continue;
      try {
        const { byName } = await listWithin(list(found), document.listTimeoutMs);
        if (byName.has(tool)) return { ...one, tool, name };
      } catch (error) {
        thrown ??= errorOf(error, found.document.slug);
      }
    }
    // A server that cannot be asked may have the tool, so it is not unknown.
    if (thrown !== undefined) throw thrown;
    return undefined;
  }
}
