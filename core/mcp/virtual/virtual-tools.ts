import type { VirtualTool } from '../../contract/protocol/mcp/mcp-virtual.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/** Returns the definition that clients see: renamed, and without the arguments that the gateway adds. */
export function shownTool(tool: JsonObject, { name, description, arguments: fixed }: VirtualTool): JsonObject {
  return {
    ...tool,
    name,
    ...(description === null ? {} : { description }),
    inputSchema: withoutFixed(tool.inputSchema, Object.keys(fixed)),
  };
}

function withoutFixed(schema: unknown, fixed: readonly string[]): unknown {
  if (fixed.length === 0 || !isObject(schema)) return schema;
  const { properties, required, ...rest } = schema;
  const shown = isObject(properties)
    ? Object.fromEntries(Object.entries(properties).filter(([name]) => !fixed.includes(name)))
    : properties;
  const needed = Array.isArray(required) ? required.filter((name) => !fixed.includes(name)) : [];
  return { ...rest, ...(shown === undefined ? {} : { properties: shown }), ...(needed.length === 0 ? {} : { required: needed }) };
}
