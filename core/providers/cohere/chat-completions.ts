import type { Operation } from '../../contract/provider/provider.ts';
import { refuseError } from '../../formats/openai/provider-error.ts';
import { chatReply } from './chat-reply.ts';
import { chatRequest } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';
import { chatStreamReader } from './stream-reader.ts';
import { usageOfReply } from './usage.ts';

/** Translates OpenAI-format chat calls to the Chat API, version 2. */
export const chatComplete: Operation = {
  path: () => '/v2/chat',
  toProvider: chatRequest,
  fromProvider: (reply, call) => chatReply(refuseError('cohere', reply, 'message'), call),
  translateStream: chatStream,
  usage: usageOfReply,
  streamReader: chatStreamReader,
};
