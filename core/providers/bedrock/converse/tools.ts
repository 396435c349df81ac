import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { objectSchema } from '../../../formats/anthropic/tools.ts';
import { badParam } from '../../../formats/bad-param.ts';
import { schemaWithoutBounds } from '../../../formats/json-schema-bounds.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { makerOf } from '../model-id.ts';
import { cachePoints } from './cache-points.ts';
import type { Conversation } from './chat-messages.ts';
import { takesSchemas } from './schema-support.ts';

/**
 * Returns `tools` and `tool_choice` of a chat call as the provider's `toolConfig`. Empty without tools. The provider rejects a
 * history with tool calls but without tools, so missing tools in the history are declared again.
 */
export function toolConfig(params: JsonObject, turns: Conversation['messages'], call: OperationCall): JsonObject {
  const asked = acceptedChoice(choiceOf(params), call);
  const { only } = asked;
  let tools = toolList(params, call);
  if (only) {
    const allowed = new Set(only);
    tools = tools.filter((tool) => allowed.has(nameOf(tool)));
    noteOnce(call.adapted, 'tool_choice');
  }
  if (params.parallel_tool_calls === false && tools.length > 0) noteOnce(call.dropped, 'parallel_tool_calls');
  const used = usedNames(turns);
  if (asked.none && tools.length > 0) {
    if (used.size === 0) return {};
    // Without tools the history would be rejected, so the model may still call one.
    noteOnce(call.dropped, 'tool_choice');
  }
  if (tools.length === 0 && used.size > 0) {
    noteOnce(call.adapted, 'tools');
    tools = [...used].map((name) => ({ toolSpec: { name, inputSchema: { json: { type: 'object' } } } }));
  }
  if (tools.length === 0) return {};
  return { toolConfig: { tools, ...(asked.choice ? { toolChoice: asked.choice } : {}) } };
}

function toolList(params: JsonObject, call: OperationCall): JsonObject[] {
  if (Array.isArray(params.tools)) return params.tools.flatMap((tool, index) => nativeTool(tool, `tools[${index}]`, call));
  if (!Array.isArray(params.functions)) return [];
  // The retired form of tools. Replies use `tool_calls`, its replacement.
  noteOnce(call.adapted, 'functions');
  return params.functions.flatMap((fn, index) => nativeTool({ type: 'function', function: fn }, `functions[${index}]`, call));
}

function nativeTool(tool: unknown, path: string, call: OperationCall): JsonObject[] {
  if (!isObject(tool)) throw badParam(path, 'a tool must be an object');
  if (!isObject(tool.function)) {
    // Blocks of the provider itself: `{toolSpec: …}`, `{systemTool: …}`, `{cachePoint: …}`.
    if (tool.type === undefined) return [tool];
    throw badParam(path, `tools of type ${String(tool.type)} are not supported by bedrock`);
  }
  const { name, description, parameters, strict } = tool.function;
  const given = objectSchema(parameters);
  const spec: JsonObject = { name };
  if (typeof description === 'string' && description !== '') spec.description = description;
  const binding = strict === true && takesSchemas(call.model);
  if (strict === true && !binding) noteOnce(call.dropped, 'tools.strict');
  spec.inputSchema = {
    json: binding ? schemaWithoutBounds(given, { closesObjects: true, changed: () => noteOnce(call.adapted, 'tools') }) : given,
  };
  if (binding) spec.strict = true;
  return [{ toolSpec: spec }, ...cachePoints(tool.function.cache_control ? tool.function : tool, call, 'tools')];
}

interface Choice {
  readonly choice: JsonObject | null;
  readonly none: boolean;
  /** The names of the allowed tools, if the client allowed only some. */
  readonly only: readonly string[] | null;
}

function choiceOf(params: JsonObject): Choice {
  const asked = params.tool_choice ?? params.function_call;
  const plain = (choice: JsonObject | null): Choice => ({ choice, none: false, only: null });
  if (asked === 'none') return { choice: null, none: true, only: null };
  // The default, which models without a choice of tools (Llama, Cohere) reject if it is named.
  if (asked === 'auto') return plain(null);
  if (asked === 'required') return plain({ any: {} });
  if (!isObject(asked)) return plain(null);
  if (asked.type === 'allowed_tools' && isObject(asked.allowed_tools)) {
    const { mode, tools } = asked.allowed_tools;
    const names = Array.isArray(tools) ? tools.filter(isObject).map((tool) => String(functionName(tool))) : [];
    return { ...plain(mode === 'required' ? { any: {} } : null), only: names };
  }
  const name = functionName(asked);
  return plain(name === undefined ? asked : { tool: { name } });
}

/** Llama and models of Writer cannot be forced to call a tool, and models of Mistral cannot be forced to call a certain one: they reject the call. */
function acceptedChoice(asked: Choice, call: OperationCall): Choice {
  const named = isObject(asked.choice?.tool) ? String(asked.choice.tool.name) : null;
  const maker = makerOf(call.model);
  const isFree = maker === 'meta' || maker === 'writer';
  if (asked.choice === null || !(isFree || (maker === 'mistral' && named !== null))) return asked;
  if (named === null) noteOnce(call.dropped, 'tool_choice');
  return { ...asked, choice: isFree ? null : { any: {} }, only: named === null ? asked.only : [named] };
}

function functionName(from: JsonObject): unknown {
  return isObject(from.function) ? from.function.name : from.name;
}

function nameOf(tool: JsonObject): string {
  return isObject(tool.toolSpec) ? String(tool.toolSpec.name) : '';
}

function usedNames(turns: Conversation['messages']): Set<string> {
  const names = new Set<string>();
  for (const block of turns.flatMap((turn) => turn.content)) {
    if (isObject(block.toolUse)) names.add(String(block.toolUse.name));
  }
  return names;
}
