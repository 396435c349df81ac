import type { McpVirtualServerDocument, VirtualTool } from '../../contract/protocol/mcp-virtual.ts';
import { toGatewayError } from '../../contract/values/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import { toolCall } from '../routed-message.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { ToolList } from '../tool-lists.ts';
import type { MissingServer, ToolSource } from '../tool-source.ts';
import { shownTool } from './virtual-tools.ts';

export interface VirtualParts {
  readonly document: McpVirtualServerDocument;
  /** Returns the settings of a server; null if it does not exist or the caller has no access to it. */
  find(server: string): Promise<ServerSettings | null>;
  list(server: ServerSettings): Promise<ToolList>;
  /** Calls a tool of a server. `name` is the name that the client used. */
  call(server: ServerSettings, message: ClientMessage, name: string): Promise<AttemptReply>;
}

/** The tools of a virtual server. Access, flags and pins of the servers behind it apply. */
export function virtualSource({ document, find, list, call }: VirtualParts): ToolSource {
  return {
    async list() {
      const missing: MissingServer[] = [];
      const servers = [...new Set(document.tools.map(({ server }) => server))];
      const listed = await Promise.all(servers.map((server) => toolsOf(server, missing)));
      const order = new Map(document.tools.map(({ name }, index) => [name as unknown, index]));
      const at = ({ name }: JsonObject) => order.get(name) ?? 0;
      return { tools: listed.flat().sort((one, other) => at(one) - at(other)), missing };
    },
    async call(message) {
      const { name, arguments: sent } = message.params;
      const selected = document.tools.find((one) => one.name === name);
      const server = selected ? await findSame(selected) : null;
      if (!selected || server === null) {
        const text = `Tool '${String(name).slice(0, 200)}' not found`;
        throw new RpcError(rpcCodes.invalidParams, text, { id: message.id, status: 200 });
      }
      const all = { ...(isObject(sent) ? sent : {}), ...selected.arguments };
      return call(server, toolCall(message, selected.tool, all), selected.name);
    },
  };

  /** The slug may have passed to another server meanwhile. */
  async function findSame({ server, serverId }: VirtualTool): Promise<ServerSettings | null> {
    const found = await find(server);
    return found?.document.id === serverId ? found : null;
  }

  /** Returns the tools of one server; none, and an entry in `missing`, if it does not reply in time. */
  async function toolsOf(server: string, missing: MissingServer[]): Promise<JsonObject[]> {
    const tools = document.tools.filter((one) => one.server === server);
    try {
      const found = await findSame(tools[0] as VirtualTool);
      if (found === null) return [];
      const { byName } = await within(list(found), document.listTimeoutMs);
      return tools.flatMap((selected) => {
        const tool = byName.get(selected.tool);
        const isUsable = tool !== undefined && found.isEnabled('tool', selected.tool) && found.isApproved(tool);
        return isUsable ? [shownTool(tool, selected)] : [];
      });
    } catch (thrown) {
      const isOwn = thrown instanceof Late || thrown instanceof RpcError;
      missing.push({ server, reason: isOwn ? thrown.message : toGatewayError(thrown).message });
      return [];
    }
  }
}

class Late extends Error {}

/** Rejects if the list takes longer. It is still read, for later requests. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Late(`no list within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
