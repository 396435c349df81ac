import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import { refuseError } from '../errors.ts';
import { geminiStreamReader, usageOfReply } from '../usage.ts';
import { chatReply } from './chat-reply.ts';
import { chatRequest, type GeminiRequestOptions } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';

/**
 * Translates OpenAI-format chat calls to generateContent of `provider`. `path` returns the path of the model, without the method.
 */
export function geminiChat(provider: string, path: (call: OperationCall) => string, options: GeminiRequestOptions): Operation {
  return {
    path: (call) => `${path(call)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    toProvider: (params, call) => chatRequest(params, call, options),
    fromProvider: (reply, call) => chatReply(refuseError(reply, provider), call, provider),
    translateStream: (call) => chatStream(call, provider),
    usage: usageOfReply,
    streamReader: () => geminiStreamReader(provider),
  };
}
