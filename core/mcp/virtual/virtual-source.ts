import { allTools, type McpVirtualServerDocument, type VirtualTool } from '../../contract/protocol/mcp-virtual.ts';
import { GatewayError } from '../../contract/values/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import { toolCall } from '../routed-message.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { ToolList } from '../tool-lists.ts';
import type { MissingServer, ToolSource } from '../tool-source.ts';
import { shownTool } from './virtual-tools.ts';
import { Late, reasonOf, within } from './within-time.ts';

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
      const shown = listed.flat().sort((one, other) => one.order - other.order);
      // Tools that are selected by name come first, and a name is shown once.
      const byName = new Map(shown.filter(({ isNamed }) => isNamed).map((one) => [one.tool.name, one]));
      for (const one of shown) if (!byName.has(one.tool.name)) byName.set(one.tool.name, one);
      return { tools: shown.filter((one) => byName.get(one.tool.name) === one).map(({ tool }) => tool), missing };
    },
    async call(message) {
      const { name, arguments: sent } = message.params;
      const selected = document.tools.find((one) => one.tool !== allTools && one.name === name) ?? (await ofAllTools(name));
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

  /** Returns the tool of this name among all tools of a server; undefined if no server lists it. */
  async function ofAllTools(name: unknown): Promise<VirtualTool | undefined> {
    if (typeof name !== 'string') return undefined;
    const all = document.tools.filter((one) => one.tool === allTools && name.startsWith(one.name));
    let thrown: unknown;
    for (const one of all) {
      const tool = name.slice(one.name.length);
      const found = await findSame(one);
      if (found === null) continue;
      try {
        const { byName } = await within(list(found), document.listTimeoutMs);
        if (byName.has(tool)) return { ...one, tool, name };
      } catch (error) {
        thrown ??= error instanceof Late ? new GatewayError('request_timeout', { message: error.message }) : error;
      }
    }
    // A server that cannot be asked may have the tool, so it is not unknown.
    if (thrown !== undefined) throw thrown;
    return undefined;
  }

  /** Returns the tools of one server; none, and an entry in `missing`, if it does not reply in time. */
  async function toolsOf(server: string, missing: MissingServer[]): Promise<Shown[]> {
    const tools = document.tools.filter((one) => one.server === server);
    try {
      const found = await findSame(tools[0] as VirtualTool);
      if (found === null) return [];
      const { byName } = await within(list(found), document.listTimeoutMs);
      const named = new Set(tools.map(({ tool }) => tool));
      return tools.flatMap((selected) => {
        const order = document.tools.indexOf(selected);
        const isNamed = selected.tool !== allTools;
        const names = isNamed ? [selected.tool] : [...byName.keys()].filter((name) => !named.has(name));
        return names.flatMap((name) => {
          const tool = byName.get(name);
          if (tool === undefined || !found.isEnabled('tool', name) || !found.isApproved(tool)) return [];
          return [
            { tool: shownTool(tool, isNamed ? selected : { ...selected, name: `${selected.name}${name}` }), order, isNamed },
          ];
        });
      });
    } catch (thrown) {
      missing.push({ server, reason: reasonOf(thrown) });
      return [];
    }
  }
}

/** A tool of a list. */
interface Shown {
  readonly tool: JsonObject;
  /** Position of its selection. */
  readonly order: number;
  /** False: it is one of all tools of a server. */
  readonly isNamed: boolean;
}
