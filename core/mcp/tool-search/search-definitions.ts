import type { JsonObject } from '../../contract/values/json/json.ts';

export const searchToolsName = 'search_tools';
export const callToolName = 'call_tool';

/** Maximum number of tools in one reply of `search_tools`. */
export const foundMax = 20;
export const foundDefault = 5;

/** The tools that clients see instead of all tools. */
export const searchDefinitions: readonly JsonObject[] = [
  {
    name: searchToolsName,
    title: 'Search tools',
    description:
      'Finds tools by what they do. Returns the names, descriptions and input schemas of the best matches as JSON. Call a found tool with call_tool.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What the tool should do, in a few words' },
        limit: { type: 'integer', minimum: 1, maximum: foundMax, default: foundDefault, description: 'Maximum number of tools' },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  {
    name: callToolName,
    title: 'Call a tool',
    description: 'Calls a tool that search_tools found. The arguments must fit the input schema of that tool.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the tool' },
        arguments: { type: 'object', description: 'Arguments of the tool' },
      },
      required: ['name'],
    },
  },
];
