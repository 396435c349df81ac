import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { pickFormat } from '../../formats/pick-format.ts';
import { derivedCalls } from '../derived-calls.ts';
import type { ChatExtra } from '../messages-over-chat/request.ts';
import { chatReply } from './reply.ts';
import { toResponsesParams } from './request.ts';
import { chatStream } from './stream.ts';

/**
 * Chat completions over the Responses API of the same provider, the only API of some models. The call uses the provider's own
 * Responses operation, which also reads the tokens and the end of a stream. Messages calls use it too, over chat.
 */
function chatOverResponses(id: string, responses: Operation): Operation {
  const responsesCallOf = derivedCalls(toResponsesParams);
  return {
    path: (call) => responses.path(responsesCallOf(call)),
    toProvider: (params, call) => {
      const inner = responsesCallOf(call, params);
      return responses.toProvider?.(inner.params, inner) ?? inner.params;
    },
    fromProvider: (reply, call) => chatReply(id, reply, responses.usage(reply), call),
    translateStream: (call) => chatStream(responses.streamReader(), call),
    usage: responses.usage,
    streamReader: responses.streamReader,
  };
}

/** Chat completions of a provider that uses its Responses API for some models, or for all if its settings request it. */
export function chatOrResponses(
  id: string,
  byResponses: (call: OperationCall) => boolean,
  chat: Operation,
  responses: Operation,
): Operation {
  return pickFormat({ chat, responses: chatOverResponses(id, responses) }, 'chat', {
    ofCall: (call) => (byResponses(call) ? 'responses' : 'chat'),
    ofReply: (reply) => (reply.object === 'response' ? 'responses' : 'chat'),
    ofEvent({ type, choices }) {
      if (typeof type === 'string' && (type === 'error' || type.startsWith('response.'))) return 'responses';
      return Array.isArray(choices) ? 'chat' : null;
    },
  });
}

/**
 * Returns the fields beyond OpenAI's that chat calls of such a provider accept. Calls over the Responses API also accept sealed
 * reasoning, media in tool results and files by URL.
 */
export function sealedReasoning(
  byResponses: (call: OperationCall) => boolean,
  extras: readonly ChatExtra[] = [],
): (call: OperationCall) => readonly ChatExtra[] {
  const more: readonly ChatExtra[] = ['content_blocks', 'tool_media', 'file_urls'];
  return (call) => (byResponses(call) ? more : extras);
}
