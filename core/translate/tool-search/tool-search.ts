import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { converting } from '../converting.ts';
import { searchCallStream, withSearchCalls } from './reply.ts';
import { hasClientSearch, withSearchFunction } from './request.ts';

/**
 * A Responses API that accepts OpenAI's tool search that the client executes, for a provider without it. Codex declares it instead of the
 * tools of its MCP servers if these are many. `hasThem` selects calls of models that have the search themselves.
 */
export function withToolSearch(responses: Operation, hasThem?: (call: OperationCall) => boolean): Operation {
  const conversion = {
    request: withSearchFunction,
    names: ({ tools }: OperationCall['params']) => hasClientSearch(tools) || null,
    reply: (reply: OperationCall['params'], _names: true, asked: OperationCall['params']) => withSearchCalls(reply, asked),
    stream: (inner: Parameters<typeof searchCallStream>[0], _names: true, asked: OperationCall['params']) =>
      searchCallStream(inner, asked),
  };
  return converting(responses, conversion, hasThem);
}
