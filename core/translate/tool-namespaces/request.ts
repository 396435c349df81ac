import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { flatName } from './flat-name.ts';

/** A tool as the client names it. */
export interface NamespacedTool {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Returns a Responses request whose namespaces are replaced by their tools, under names that hold both. Earlier calls and the choice of
 * tools have these names too. Returns the same object if it has no namespace. Throws `bad_request` naming a tool without a name.
 */
export function withFlatTools(params: JsonObject, call: OperationCall): JsonObject {
  const { tools, input, tool_choice: choice } = params;
  const hasTools = Array.isArray(tools) && tools.some(isNamespace);
  const hasItems = Array.isArray(input) && input.some(isNamespaced);
  if (!hasTools && !hasItems) return params;
  const body: Record<string, unknown> = { ...params };
  if (hasTools) {
    noteOnce(call.adapted, 'tools.namespace');
    body.tools = tools.flatMap((tool, index) => (isNamespace(tool) ? toolsOf(tool, `tools[${index}]`) : [tool]));
    if (isObject(choice)) body.tool_choice = choiceOf(choice, tools);
  }
  if (hasItems) {
    noteOnce(call.adapted, 'input.namespace');
    body.input = input.map((item) => (isNamespaced(item) ? flatItem(item) : item));
  }
  return body;
}

/** Returns the tools of namespaces in a Responses request by their flat names; null if it has none. */
export function namespacedTools({ tools }: JsonObject): ReadonlyMap<unknown, NamespacedTool> | null {
  const found = new Map<unknown, NamespacedTool>();
  for (const { name: namespace, tools: inner } of objectsIn(tools).filter(isNamespace)) {
    for (const { name } of objectsIn(inner)) {
      if (typeof name === 'string') found.set(flatName(namespace, name), { namespace, name });
    }
  }
  return found.size === 0 ? null : found;
}

type Namespace = JsonObject & { readonly type: 'namespace'; readonly name: string };

function isNamespace(value: unknown): value is Namespace {
  return isObject(value) && value.type === 'namespace' && typeof value.name === 'string';
}

function isNamespaced(value: unknown): value is JsonObject & { readonly namespace: string } {
  return isObject(value) && typeof value.namespace === 'string';
}

/** All tools are shown to the model, because a provider without namespaces cannot search for deferred ones. */
function toolsOf({ name: namespace, tools }: Namespace, path: string): JsonObject[] {
  return objectsIn(tools).map(({ defer_loading: _deferred, ...tool }, index) => {
    if (typeof tool.name !== 'string') throw badParam(`${path}.tools[${index}].name`, 'text is required');
    return { ...tool, name: flatName(namespace, tool.name) };
  });
}

function flatItem({ namespace, ...item }: JsonObject & { readonly namespace: string }): JsonObject {
  return typeof item.name === 'string' ? { ...item, name: flatName(namespace, item.name) } : item;
}

function choiceOf(choice: JsonObject, tools: readonly unknown[]): JsonObject {
  if (isNamespaced(choice)) return flatItem(choice);
  if (choice.type !== 'allowed_tools' || !Array.isArray(choice.tools)) return choice;
  const namespaces = Map.groupBy(tools.filter(isNamespace), ({ name }) => name);
  const allowed = choice.tools.flatMap((tool) => {
    if (isNamespaced(tool)) return [flatItem(tool)];
    if (!isNamespace(tool)) return [tool];
    const whole = namespaces.get(tool.name) ?? [];
    // A namespace that is named again adds no tool.
    namespaces.delete(tool.name);
    return whole.flatMap((one) => toolsOf(one, 'tools').map(({ type, name }) => ({ type, name })));
  });
  return { ...choice, tools: allowed };
}
