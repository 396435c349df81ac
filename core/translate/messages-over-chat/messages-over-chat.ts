import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { derivedCalls } from '../derived-calls.ts';
import { membersOfChat } from '../members-of-chat.ts';
import { toMessagesReply } from './reply.ts';
import { type ChatExtras, extrasOf, toChatParams } from './request.ts';
import { messagesStream } from './stream.ts';

/**
 * Serves Anthropic's `/v1/messages` for a provider that only has chat completions. The call becomes a chat call, goes through the
 * provider's own chat operation, and its reply or stream is translated back. The chat operation reads tokens and the end of a
 * stream from the provider's own format. `understands` names the fields beyond OpenAI's that this provider accepts.
 */
export function messagesOverChat(chat: Operation, understands: ChatExtras = []): Operation {
  const chatCallOf = derivedCalls(
    (params, call) => toChatParams(params, call, extrasOf(understands, call)),
    // Providers return their reasoning only without strict compliance. Dropped parameters are reported on the outer call.
    () => ({ strict: false }),
  );
  /** True if the provider accepts its own blocks again, so that they can be sent sealed. */
  const opensBlocks = (call: OperationCall): boolean => extrasOf(understands, call).includes('content_blocks');
  return {
    ...membersOfChat(chat, chatCallOf),
    toProvider: (params, call) => {
      const chatCall = chatCallOf(call, params);
      return chat.toProvider?.(chatCall.params, chatCall) ?? chatCall.params;
    },
    fromProvider: (reply, call) => {
      const chatCall = chatCallOf(call);
      const completion = chat.fromProvider?.(reply, chatCall) ?? reply;
      return toMessagesReply(completion, chat.usage(reply, chatCall), call, opensBlocks(call));
    },
    translateStream: (call) => messagesStream(chat, chatCallOf(call), call, opensBlocks(call)),
  };
}
