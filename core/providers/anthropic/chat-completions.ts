import type { Operation } from '../../contract/provider.ts';
import { chatReply } from './chat-reply.ts';
import { chatRequest } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import { messagesStreamReader, usageOfReply } from './usage.ts';

/** An OpenAI-format chat call answered from the Messages API. */
export const chatComplete: Operation = {
  path: () => '/messages',
  toProvider: chatRequest,
  fromProvider: chatReply,
  translateStream: chatStream,
  usage: usageOfReply,
  streamReader: messagesStreamReader,
};
