import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { converting } from '../converting.ts';
import { withOpenAiItems } from '../openai-items/openai-items.ts';
import { withToolSearch } from '../tool-search/tool-search.ts';
import { namespaceStream, withNamespaces } from './reply.ts';
import { namespacedTools, withFlatTools } from './request.ts';

/**
 * A Responses API that accepts OpenAI's namespaces of tools, for a provider without them. Codex declares the tools of each MCP server in a
 * namespace, and refuses calls whose item does not name it. A tool search that the client executes, and items that only OpenAI has, are
 * accepted too. `hasThem` selects calls of models that have namespaces themselves.
 */
export function withToolNamespaces(responses: Operation, hasThem?: (call: OperationCall) => boolean): Operation {
  const conversion = { request: withFlatTools, names: namespacedTools, reply: withNamespaces, stream: namespaceStream };
  // A search returns tools in namespaces, so it is converted first. Items may declare the search and namespaces.
  return withOpenAiItems(withToolSearch(converting(responses, conversion, hasThem), hasThem), hasThem);
}
