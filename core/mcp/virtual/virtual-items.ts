import {
  allItems,
  type McpVirtualServerDocument,
  type VirtualPrompt,
  type VirtualResource,
} from '../../contract/protocol/mcp/mcp-virtual.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { type ClientMessage, nameOf, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { AttemptReply } from '../../pipeline/attempt-reply.ts';
import { lists, shownItems } from '../lists/capabilities.ts';
import type { ServerSettings } from '../server/server-settings.ts';
import { isExpansion, mayExpand } from '../server/uri-templates.ts';
import { listSelected, type SelectedItems, type Selection } from './list-selected.ts';
import { selectedItems } from './selections.ts';
import { requireOpenArgument, shownPrompt, shownResource, withPrompt } from './virtual-prompts.ts';
import { errorOf, listWithin } from './within-time.ts';

export interface ItemParts {
  readonly document: McpVirtualServerDocument;
  /** Returns the settings of the server behind a selection; null if it does not exist or the caller has no access to it. */
  find(selection: Selection): Promise<ServerSettings | null>;
  /** Reads all items of a list of a server. */
  list(server: ServerSettings, method: string): Promise<readonly JsonObject[]>;
  /** Sends a message to a server. `name` is the name that the client used. */
  call(server: ServerSettings, message: ClientMessage, name: string): Promise<AttemptReply>;
}

/** The prompts and resources of a virtual server. Access and flags of the servers behind it apply. */
export interface VirtualItems {
  list(method: string): Promise<SelectedItems>;
  /** Throws RpcError -32602 for a prompt or a resource that the caller may not use. */
  call(message: ClientMessage): Promise<AttemptReply>;
}

export function virtualItems({ document, find, list, call }: ItemParts): VirtualItems {
  const { prompts, resources } = selectedItems(document);
  const { listTimeoutMs } = document;

  return {
    list(method) {
      const { key, type } = lists[method] as (typeof lists)[string];
      const read = (server: ServerSettings) => enabledOf(server, method);
      const shared = { listTimeoutMs, key, find, read };
      if (type === 'prompt') {
        return listSelected<VirtualPrompt>({ ...shared, selections: prompts, itemOf: ({ prompt }) => prompt, show: shownPrompt });
      }
      return listSelected<VirtualResource>({
        ...{ ...shared, selections: resources, itemOf: ({ resource }) => resource },
        show: shownResource,
      });
    },
    call(message) {
      const { name, isPrompt } = usedBy(message);
      return isPrompt ? callPrompt(message, name) : callResource(message, name);
    },
  };

  async function callPrompt(message: ClientMessage, name: string): Promise<AttemptReply> {
    const named = prompts.find(({ prompt, name: shown }) => prompt !== allItems && shown === name);
    const selected = named ?? (await promptOfAll(name));
    const server = selected === null ? null : await find(selected);
    if (selected === null || server === null) throw notFound(message, 'Prompt', name);
    requireOpenArgument(message, selected);
    return call(server, withPrompt(message, selected), name);
  }

  /** Returns the prompt of this name among all prompts of a server; null if no server lists it. */
  async function promptOfAll(name: string): Promise<VirtualPrompt | null> {
    const named = new Set(prompts.map(({ serverId, prompt }) => `${serverId} ${prompt}`));
    const all = prompts.filter(({ prompt, name: prefix }) => prompt === allItems && name.startsWith(prefix));
    const atServer = (one: VirtualPrompt) => name.slice(one.name.length);
    const found = await firstWith(all, async (server, one) => {
      if (named.has(`${one.serverId} ${atServer(one)}`)) return false;
      return (await enabledOf(server, 'prompts/list')).some((item) => item.name === atServer(one));
    });
    return found && { ...found, prompt: atServer(found) };
  }

  async function callResource(message: ClientMessage, uri: string): Promise<AttemptReply> {
    const isRead = message.method === 'resources/read';
    const named = resources.filter(({ resource }) => resource !== allItems);
    const exact = named.filter(({ resource }) => resource === uri);
    const templates = isRead ? named.filter(({ resource }) => isExpansion(resource, uri)) : [];
    for (const selected of [...exact, ...templates]) {
      const server = await find(selected);
      if (server === null) continue;
      // A flag of the template does not name the resources that it describes.
      if (exact.includes(selected) || server.isEnabled('resource_template', selected.resource)) return call(server, message, uri);
    }
    const all = resources.filter(({ resource }) => resource === allItems);
    const found = await firstWith(all, async (server, { serverId }) => {
      const own = new Set(named.filter((one) => one.serverId === serverId).map(({ resource }) => resource));
      if ((await enabledOf(server, 'resources/list')).some((item) => item.uri === uri && !own.has(uri))) return true;
      return (await enabledOf(server, 'resources/templates/list')).some(
        ({ uriTemplate: template }) => typeof template === 'string' && !own.has(template) && mayExpand(template, uri),
      );
    });
    const server = found === null ? null : await find(found);
    if (server === null) throw notFound(message, 'Resource', uri);
    return call(server, message, uri);
  }

  /** The items of a server that flags allow. */
  async function enabledOf(server: ServerSettings, method: string): Promise<JsonObject[]> {
    const found = lists[method] as (typeof lists)[string];
    return shownItems(server, found, await list(server, method));
  }

  /** Returns the first selection whose server has the item; null if none has it. Rejects if a server that may have it cannot be asked. */
  async function firstWith<One extends Selection>(
    selections: readonly One[],
    has: (server: ServerSettings, selection: One) => Promise<boolean>,
  ): Promise<One | null> {
    let thrown: unknown;
    for (const one of selections) {
      const server = await find(one);
      if (server === null) continue;
      try {
        if (await listWithin(has(server, one), listTimeoutMs)) return one;
      } catch (error) {
        thrown ??= errorOf(error, server.document.slug);
      }
    }
    if (thrown !== undefined) throw thrown;
    return null;
  }
}

function notFound({ id }: ClientMessage, label: string, name: string): RpcError {
  return new RpcError(rpcCodes.invalidParams, `${label} '${name.slice(0, 200)}' not found`, { id, status: 200 });
}

function usedBy(message: ClientMessage): { name: string; isPrompt: boolean } {
  const { method, params } = message;
  if (method !== 'completion/complete') return { name: nameOf(message) ?? '', isPrompt: method === 'prompts/get' };
  const ref = isObject(params.ref) ? params.ref : {};
  return typeof ref.uri === 'string' ? { name: ref.uri, isPrompt: false } : { name: String(ref.name), isPrompt: true };
}
