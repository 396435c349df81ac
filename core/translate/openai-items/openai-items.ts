import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { converting } from '../converting.ts';
import { streamWithOwnTools, withOwnTools } from './reply.ts';
import { hasOpenAiItems, withItemsApplied } from './request.ts';

type Params = OperationCall['params'];

/**
 * A Responses API that accepts items of `input` which only OpenAI's models know, for a provider without them. For models of GPT-6, Codex
 * declares its tools in such an item. `hasThem` selects calls of models that have these items themselves.
 */
export function withOpenAiItems(responses: Operation, hasThem?: (call: OperationCall) => boolean): Operation {
  const conversion = {
    request: withItemsApplied,
    names: ({ input }: Params) => hasOpenAiItems(input) || null,
    reply: (reply: Params, _names: true, asked: Params) => withOwnTools(reply, asked),
    stream: (inner: Parameters<typeof streamWithOwnTools>[0], _names: true, asked: Params) => streamWithOwnTools(inner, asked),
  };
  return converting(responses, conversion, hasThem);
}
