import type { VirtualPrompt, VirtualResource } from '../../contract/protocol/mcp/mcp-virtual.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { type ClientMessage, RpcError, rpcCodes } from '../../json-rpc/messages.ts';

/** Returns the prompt that clients see: renamed, and without the arguments that the gateway adds. */
export function shownPrompt(prompt: JsonObject, selection: VirtualPrompt, isAll: boolean): JsonObject {
  if (isAll) return { ...prompt, name: `${selection.name}${prompt.name}` };
  const { name, description, arguments: fixed } = selection;
  const { arguments: own } = prompt;
  const shown = Array.isArray(own) ? { arguments: own.filter((one) => !isObject(one) || !isFixed(fixed, one.name)) } : {};
  return { ...prompt, name, ...(description === null ? {} : { description }), ...shown };
}

/** Returns the resource or template that clients see. */
export function shownResource(resource: JsonObject, { name, description }: VirtualResource): JsonObject {
  // A title would be displayed instead of the name.
  const { title, ...rest } = resource;
  return {
    ...(name === null ? resource : { ...rest, name }),
    ...(description === null ? {} : { description }),
  };
}

/** Returns the message with the prompt and the arguments that the server receives. */
export function withPrompt(message: ClientMessage, { prompt: name, arguments: fixed }: VirtualPrompt): ClientMessage {
  const { method, params } = message;
  if (method !== 'completion/complete') return { ...message, params: { ...params, name, ...withFixed(params, fixed) } };
  const ref = { ...(params.ref as JsonObject), name };
  const given = isObject(params.context) ? params.context : {};
  const context = { ...given, ...withFixed(given, fixed) };
  return { ...message, params: { ...params, ref, ...(Object.keys(context).length === 0 ? {} : { context }) } };
}

/** Throws RpcError -32602 if the completed argument is one that clients do not see. */
export function requireOpenArgument({ method, params, id }: ClientMessage, { arguments: fixed }: VirtualPrompt): void {
  const asked = method === 'completion/complete' && isObject(params.argument) ? params.argument.name : undefined;
  if (!isFixed(fixed, asked)) return;
  throw new RpcError(rpcCodes.invalidParams, `Argument '${String(asked).slice(0, 200)}' not found`, { id, status: 200 });
}

function withFixed({ arguments: sent }: JsonObject, fixed: VirtualPrompt['arguments']): JsonObject {
  if (Object.keys(fixed).length === 0) return sent === undefined ? {} : { arguments: sent };
  return { arguments: { ...(isObject(sent) ? sent : {}), ...fixed } };
}

function isFixed(fixed: VirtualPrompt['arguments'], name: unknown): boolean {
  return typeof name === 'string' && Object.hasOwn(fixed, name);
}
