import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';

const noParameters = { type: 'object', properties: {} };

/**
 * Returns a chat request whose parameters have the types of Mistral's definition: no `null`, functions with `parameters`, and a
 * service tier of Mistral. Returns the same object if nothing changes.
 */
export function withParamTypes(params: JsonObject, call: OperationCall): JsonObject {
  return withTier(withToolParameters(withoutNulls(params)), call);
}

/** Mistral returns 422 for `null` in most parameters, for example `stream` and `tool_choice`. It means the same as no value. */
function withoutNulls(params: JsonObject): JsonObject {
  const entries = Object.entries(params);
  const given = entries.filter(([, value]) => value !== null);
  return given.length === entries.length ? params : Object.fromEntries(given);
}

/** `parameters` is optional at OpenAI and required at Mistral. */
function withToolParameters(params: JsonObject): JsonObject {
  const { tools } = params;
  if (!Array.isArray(tools) || !tools.some(lacksParameters)) return params;
  return {
    ...params,
    tools: tools.map((tool: unknown) =>
      lacksParameters(tool) ? { ...tool, function: { ...tool.function, parameters: noParameters } } : tool,
    ),
  };
}

function lacksParameters(tool: unknown): tool is JsonObject & { function: JsonObject } {
  return isObject(tool) && isObject(tool.function) && (tool.function.parameters ?? null) === null;
}

/** Mistral has the tiers `auto` and `standard_only`. */
function withTier(params: JsonObject, call: OperationCall): JsonObject {
  const { service_tier: tier, ...others } = params;
  if (tier === undefined || tier === 'auto' || tier === 'standard_only') return params;
  if (tier === 'default') {
    noteOnce(call.adapted, 'service_tier');
    return { ...params, service_tier: 'standard_only' };
  }
  noteOnce(call.dropped, 'service_tier');
  return others;
}
