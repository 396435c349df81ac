import { allTools, type McpVirtualServerDocument, type VirtualTool } from '../../contract/protocol/mcp-virtual.ts';
import { isObject, type JsonObject } from '../../contract/values/json.ts';
import { type ClientMessage, nameOf, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import { isShown, lists } from '../capabilities.ts';
import type { ServerSettings } from '../server-settings.ts';
import type { MissingServer } from '../tool-source.ts';
import { reasonOf, within } from './within-time.ts';

export interface ItemParts {
  readonly document: McpVirtualServerDocument;
  /** Returns the settings of the server behind a selection; null if it does not exist or the caller has no access to it. */
  find(selected: VirtualTool): Promise<ServerSettings | null>;
  /** Reads all items of a list of a server. */
  list(server: ServerSettings, method: string): Promise<readonly JsonObject[]>;
  /** Sends a message to a server. `name` is the name that the client used. */
  call(server: ServerSettings, message: ClientMessage, name: string): Promise<AttemptReply>;
}

/** Prompts and resources of the servers of which a virtual server shows all tools. */
export interface VirtualItems {
  list(method: string): Promise<{ readonly items: readonly JsonObject[]; readonly missing: readonly MissingServer[] }>;
  /** Throws RpcError -32602 for a prompt or a resource that the caller may not use. */
  call(message: ClientMessage): Promise<AttemptReply>;
}

/** True if the virtual server shows prompts and resources. */
export function hasItems({ tools }: McpVirtualServerDocument): boolean {
  return tools.some(({ tool }) => tool === allTools);
}

/** Prompts have the prefix of the tools of their server. Resources keep their URIs, and the first server with a URI has it. */
export function virtualItems({ document, find, list, call }: ItemParts): VirtualItems {
  const members = document.tools.filter(({ tool }) => tool === allTools);

  return {
    async list(method) {
      const { key } = lists[method] as (typeof lists)[string];
      const missing: MissingServer[] = [];
      const listed = await Promise.all(
        members.map((member) =>
          shownOf(member, method).catch((thrown: unknown) => {
            missing.push({ server: member.server, reason: reasonOf(thrown) });
            return [];
          }),
        ),
      );
      const byKey = new Map<unknown, JsonObject>();
      for (const item of listed.flat()) if (!byKey.has(item[key])) byKey.set(item[key], item);
      return { items: [...byKey.values()], missing };
    },
    async call(message) {
      const { name, isPrompt } = usedBy(message);
      for (const member of members) {
        if (isPrompt && !name.startsWith(member.name)) continue;
        const server = (await has(member, name, isPrompt)) ? await find(member) : null;
        if (server !== null) return call(server, isPrompt ? renamed(message, name.slice(member.name.length)) : message, name);
      }
      const text = `${isPrompt ? 'Prompt' : 'Resource'} '${name.slice(0, 200)}' not found`;
      throw new RpcError(rpcCodes.invalidParams, text, { id: message.id, status: 200 });
    },
  };

  /** The items of a server under the names that clients see, without disabled ones. */
  async function shownOf(member: VirtualTool, method: string): Promise<JsonObject[]> {
    const server = await find(member);
    if (server === null) return [];
    const found = lists[method] as (typeof lists)[string];
    const items = (await within(list(server, method), document.listTimeoutMs)).filter((item) => isShown(server, found, item));
    return found.type === 'prompt' ? items.map((item) => ({ ...item, name: `${member.name}${item.name}` })) : items;
  }

  async function has(member: VirtualTool, name: string, isPrompt: boolean): Promise<boolean> {
    if (isPrompt) return (await shownOf(member, 'prompts/list')).some((item) => item.name === name);
    if ((await shownOf(member, 'resources/list')).some(({ uri }) => uri === name)) return true;
    const templates = await shownOf(member, 'resources/templates/list');
    return templates.some(({ uriTemplate }) => typeof uriTemplate === 'string' && mayExpand(uriTemplate, name));
  }
}

/** True for a URI that the template may give: the literal text before its first expression is the same, or the template itself. */
function mayExpand(template: string, uri: string): boolean {
  const at = template.indexOf('{');
  return template === uri || (at > 0 && uri.startsWith(template.slice(0, at)));
}

function usedBy(message: ClientMessage): { name: string; isPrompt: boolean } {
  const { method, params } = message;
  if (method !== 'completion/complete') return { name: nameOf(message) ?? '', isPrompt: method === 'prompts/get' };
  const ref = isObject(params.ref) ? params.ref : {};
  return typeof ref.uri === 'string' ? { name: ref.uri, isPrompt: false } : { name: String(ref.name), isPrompt: true };
}

function renamed(message: ClientMessage, name: string): ClientMessage {
  const { params } = message;
  if (message.method !== 'completion/complete') return { ...message, params: { ...params, name } };
  return { ...message, params: { ...params, ref: { ...(params.ref as JsonObject), name } } };
}
