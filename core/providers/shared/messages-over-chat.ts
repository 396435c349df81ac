import type { JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall } from '../../contract/provider.ts';
import { toMessagesReply } from './messages-over-chat-reply.ts';
import { type ChatExtras, toChatParams } from './messages-over-chat-request.ts';
import { messagesStream } from './messages-over-chat-stream.ts';

/**
 * Anthropic's `/v1/messages` answered by a provider that only has chat completions: the call is turned into a chat call, goes
 * through the provider's own chat operation, and its reply or stream is turned back. Tokens and the end of a stream are read
 * by the chat operation, from the provider's own words. `understands` names what this provider takes beyond OpenAI's fields.
 */
export function messagesOverChat(chat: Operation, understands: ChatExtras = []): Operation {
  /** The chat call of each Messages call, made once and then shared by request, reply and stream. */
  const chatCalls = new WeakMap<OperationCall, OperationCall>();
  const chatCallOf = (call: OperationCall, params: JsonObject = call.params): OperationCall => {
    let chatCall = chatCalls.get(call);
    if (chatCall === undefined || params !== call.params) {
      const extras = typeof understands === 'function' ? understands(call) : understands;
      chatCall = asChatCall(call, toChatParams(params, call, extras));
      chatCalls.set(call, chatCall);
    }
    return chatCall;
  };
  return {
    path: (call) => chat.path(chatCallOf(call)),
    toProvider: (params, call) => {
      const chatCall = chatCallOf(call, params);
      return chat.toProvider?.(chatCall.params, chatCall) ?? chatCall.params;
    },
    fromProvider: (reply, call) => {
      const completion = chat.fromProvider?.(reply, chatCallOf(call)) ?? reply;
      return toMessagesReply(completion, chat.usage(reply), call);
    },
    translateStream: (call) => messagesStream(chat, chatCallOf(call), call),
    usage: chat.usage,
    streamReader: chat.streamReader,
    ...(chat.decodeStream ? { decodeStream: chat.decodeStream } : {}),
  };
}

/** Not strict, because only then do providers hand out their thoughts; what is dropped is reported on the outer call. */
function asChatCall(call: OperationCall, params: JsonObject): OperationCall {
  return {
    model: call.model,
    stream: call.stream,
    params,
    settings: call.settings,
    strict: false,
    dropped: call.dropped,
    adapted: call.adapted,
    nowSeconds: call.nowSeconds,
    newId: (prefix) => call.newId(prefix),
  };
}
