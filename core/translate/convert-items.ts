import type { JsonObject } from '../contract/values/json/json.ts';

/** Returns a response with converted items. `asked` holds the parameters of the client, whose tools and choice of one the response repeats. */
export function convertItems(response: JsonObject, convert: (item: unknown) => unknown, asked: JsonObject): JsonObject {
  const { output, tools, tool_choice: choice } = response;
  return {
    ...response,
    ...(Array.isArray(output) ? { output: output.map(convert) } : {}),
    ...(tools === undefined ? {} : { tools: asked.tools }),
    ...(choice === undefined ? {} : { tool_choice: asked.tool_choice ?? choice }),
  };
}
