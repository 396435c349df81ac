import type { Operation } from '../../contract/provider/provider.ts';
import { chatReply } from './chat-reply.ts';
import { chatRequest } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import { refuseError } from './errors.ts';
import { messagesStreamReader, usageOfReply } from './usage.ts';

/** Translates OpenAI-format chat calls to the Messages API of `provider`: Anthropic itself, or a cloud that hosts Claude. */
export function anthropicChat(provider: string): Operation {
  return {
    path: () => '/messages',
    toProvider: chatRequest,
    fromProvider: (reply, call) => chatReply(refuseError(reply, provider), call, provider),
    translateStream: (call) => chatStream(call, provider),
    usage: usageOfReply,
    streamReader: () => messagesStreamReader(provider),
  };
}
