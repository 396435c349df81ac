import type { Operation } from '../../../contract/provider/provider.ts';
import { eventStream } from '../event-stream.ts';
import { modelSegment } from '../model-id.ts';
import { converseStreamReader, usageOfReply } from '../usage.ts';
import { chatReply } from './chat-reply.ts';
import { chatRequest } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';

/** Translates OpenAI-format chat calls to the Converse API. */
export const chatComplete: Operation = {
  path: (call) => `/model/${modelSegment(call.model)}/${call.stream ? 'converse-stream' : 'converse'}`,
  toProvider: chatRequest,
  fromProvider: chatReply,
  translateStream: chatStream,
  decodeStream: eventStream,
  usage: usageOfReply,
  streamReader: converseStreamReader,
};
