import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { flatName } from '../tool-namespaces/flat-name.ts';

/** Name of the function that stands for the search. Models of OpenAI expect this name. */
export const searchName = 'tool_search';

/**
 * Returns a Responses request whose tool search, executed by the client, is a function. Tools that earlier searches have returned are tools
 * of the request. Returns the same object if it has no such search.
 */
export function withSearchFunction(params: JsonObject, call: OperationCall): JsonObject {
  const { tools, input, tool_choice: choice } = params;
  const hasTool = hasClientSearch(tools);
  const hasItems = Array.isArray(input) && input.some(isSearchItem);
  if (!hasTool && !hasItems) return params;
  const body: Record<string, unknown> = { ...params };
  const declared = (Array.isArray(tools) ? tools : []).map((tool) => (hasTool && isClientSearch(tool) ? functionOf(tool) : tool));
  if (hasTool) noteOnce(call.adapted, 'tools.tool_search');
  if (isObject(choice) && choice.type === 'tool_search') body.tool_choice = { type: 'function', name: searchName };
  if (hasItems) {
    noteOnce(call.adapted, 'input.tool_search');
    body.input = input.map((item) => (isSearchItem(item) ? functionItem(item) : item));
    declared.push(...foundTools(input, declared));
  }
  if (declared.length > 0) body.tools = declared;
  return body;
}

/** True if the tools have a search that the client executes, and no function takes its name. */
export function hasClientSearch(tools: unknown): tools is readonly unknown[] {
  return Array.isArray(tools) && tools.some(isClientSearch) && !tools.some((tool) => isObject(tool) && tool.name === searchName);
}

function isClientSearch(tool: unknown): tool is JsonObject {
  return isObject(tool) && tool.type === 'tool_search' && tool.execution === 'client';
}

type SearchItem = JsonObject & { readonly call_id: string };

/** Searches of the provider have no id of a call. */
function isSearchItem(item: unknown): item is SearchItem {
  return (
    isObject(item) && (item.type === 'tool_search_call' || item.type === 'tool_search_output') && typeof item.call_id === 'string'
  );
}

function functionOf({ description, parameters }: JsonObject): JsonObject {
  return {
    type: 'function',
    name: searchName,
    description:
      typeof description === 'string' ? description : 'Searches for further tools. Found tools can be called afterwards.',
    parameters: isObject(parameters) ? parameters : anyQuery,
    strict: false,
  };
}

const anyQuery = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };

function functionItem(item: SearchItem): JsonObject {
  const { type, call_id, arguments: given } = item;
  if (type === 'tool_search_call') {
    const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
    return { type: 'function_call', call_id, name: searchName, arguments: text };
  }
  const names = toolsOf(item).flatMap(namesOf);
  const output = names.length === 0 ? 'No tools were found.' : `These tools can be called now: ${names.join(', ')}`;
  return { type: 'function_call_output', call_id, output };
}

/** A search returns a tool again if it matches again. Namespaces of one name may have other tools each time. */
function foundTools(input: readonly unknown[], declared: readonly unknown[]): JsonObject[] {
  const known = new Set(objectsIn(declared).flatMap(namesOf));
  return input.filter(isSearchItem).flatMap((item) =>
    toolsOf(item).flatMap((tool) => {
      if (tool.type !== 'namespace') return addName(known, namesOf(tool)) ? [tool] : [];
      const inner = objectsIn(tool.tools).filter(({ name }) => addName(known, [flatName(String(tool.name), String(name))]));
      return inner.length === 0 ? [] : [{ ...tool, tools: inner }];
    }),
  );
}

function addName(known: Set<string>, [name]: readonly string[]): boolean {
  if (name === undefined || known.has(name)) return false;
  known.add(name);
  return true;
}

function toolsOf({ type, tools }: JsonObject): JsonObject[] {
  if (type !== 'tool_search_output') return [];
  return objectsIn(tools)
    .filter(({ name }) => typeof name === 'string')
    .map(({ defer_loading: _deferred, ...tool }) => tool);
}

function namesOf({ type, name, tools }: JsonObject): string[] {
  if (typeof name !== 'string') return [];
  if (type !== 'namespace') return [name];
  return objectsIn(tools).flatMap((tool) => (typeof tool.name === 'string' ? [flatName(name, tool.name)] : []));
}
