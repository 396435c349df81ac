import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CapabilityType } from '../../contract/protocol/mcp/mcp.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { after, type Maybe } from '../../contract/values/maybe.ts';
import { type ClientMessage, nameOf, RpcError, rpcCodes } from '../../json-rpc/messages.ts';
import type { ServerSettings } from '../server/server-settings.ts';

/** The type that a method acts on, with its name in messages. */
const acts: Readonly<Record<string, { readonly type: CapabilityType; readonly label: string }>> = byName({
  'tools/call': { type: 'tool', label: 'Tool' },
  'prompts/get': { type: 'prompt', label: 'Prompt' },
  'resources/read': { type: 'resource', label: 'Resource' },
  'resources/subscribe': { type: 'resource', label: 'Resource' },
  'completion/complete': { type: 'prompt', label: 'Prompt' },
});

/** Methods that list capabilities: the member of the result, and the member of its items that flags name. */
export const lists: Readonly<Record<string, { readonly member: string; readonly key: string; readonly type: CapabilityType }>> =
  byName({
    'tools/list': { member: 'tools', key: 'name', type: 'tool' },
    'prompts/list': { member: 'prompts', key: 'name', type: 'prompt' },
    'resources/list': { member: 'resources', key: 'uri', type: 'resource' },
    'resources/templates/list': { member: 'resourceTemplates', key: 'uriTemplate', type: 'resource_template' },
  });

/** Throws RpcError -32602 if the message uses a capability that either level disables. Lists alone do not protect a capability. */
export function requireEnabled(server: ServerSettings, message: ClientMessage): void {
  const { method, params, id } = message;
  if (!server.hasFilters || method === null) return;
  if (method === 'subscriptions/listen') return requireSubscribable(server, message);
  const act = acts[method];
  if (!act) return;
  const [type, name] = method === 'completion/complete' ? completed(params) : [act.type, nameOf(message)];
  if (name === null || server.isEnabled(type, name)) return;
  const label = type === 'resource_template' ? 'Resource template' : act.label;
  throw new RpcError(rpcCodes.invalidParams, `${label} '${name.slice(0, 200)}' is disabled`, { id, status: 200 });
}

function requireSubscribable(server: ServerSettings, { params: { notifications }, id }: ClientMessage): void {
  const uris = isObject(notifications) ? notifications.resourceSubscriptions : [];
  const off = (Array.isArray(uris) ? uris : [uris]).find(
    (uri) => uri !== undefined && !server.isEnabled('resource', String(uri)),
  );
  if (off === undefined) return;
  throw new RpcError(rpcCodes.invalidParams, `Resource '${String(off).slice(0, 200)}' is disabled`, { id, status: 200 });
}

type List = (typeof lists)[string];

/** Milliseconds after which other requests are served. */
const turnMs = 5;

/**
 * Returns the items that neither flags nor pins hide. 2,000 resources take a second with 2,000 disabled templates, and one long URI some ten milliseconds, so
 * that a long comparison takes several turns of the event loop.
 */
export function shownItems(
  server: ServerSettings,
  list: List,
  items: readonly unknown[],
  now: () => number = () => performance.now(),
): Maybe<JsonObject[]> {
  const shown: JsonObject[] = [];
  const lookFrom = (first: number): Maybe<JsonObject[]> => {
    const endsAtMs = now() + turnMs;
    for (let at = first; at < items.length; at++) {
      if (now() > endsAtMs) return nextTurn().then(() => lookFrom(at));
      const item = items[at];
      if (isObject(item) && isShown(server, list, item)) shown.push(item);
    }
    return shown;
  };
  return lookFrom(0);
}

function isShown(server: ServerSettings, { key, type }: List, item: JsonObject): boolean {
  return server.isEnabled(type, String(item[key])) && (type !== 'tool' || server.isApproved(item));
}

/** The prompt or resource template whose argument is completed. */
function completed({ ref }: JsonObject): [CapabilityType, string | null] {
  if (!isObject(ref)) return ['prompt', null];
  if (typeof ref.uri === 'string') return ['resource_template', ref.uri];
  return ['prompt', typeof ref.name === 'string' ? ref.name : null];
}

/** True if results of this method must be filtered. */
export function isFiltered(server: ServerSettings, method: string | null): boolean {
  return server.hasFilters && method !== null && lists[method] !== undefined;
}

/** Returns the result of a list without disabled items; the same object if there are none. */
export function withoutDisabled(server: ServerSettings, method: string, result: JsonObject): Maybe<JsonObject> {
  const list = lists[method];
  const items = list ? result[list.member] : undefined;
  if (!list || !Array.isArray(items)) return result;
  return after(shownItems(server, list, items), (shown) =>
    shown.length === items.length ? result : { ...result, [list.member]: shown },
  );
}
