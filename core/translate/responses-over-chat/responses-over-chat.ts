import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { derivedCalls } from '../derived-calls.ts';
import { membersOfChat } from '../members-of-chat.ts';
import { type ChatExtras, extrasOf } from '../messages-over-chat/request.ts';
import { withToolNamespaces } from '../tool-namespaces/tool-namespaces.ts';
import { toResponse } from './reply.ts';
import { inCallersTerms, toChatParams } from './request.ts';
import { responseStream } from './stream.ts';

/**
 * Serves OpenAI's `/v1/responses` for a provider that only has chat completions. The call becomes a chat call, goes through the
 * provider's own chat operation, and its reply or stream is translated back. The chat operation reads tokens and the end of a
 * stream from the provider's own format. `understands` names the fields beyond OpenAI's that this provider accepts.
 */
export function responsesOverChat(chat: Operation, understands: ChatExtras = []): Operation {
  const chatCallOf = derivedCalls(
    (params, call) => toChatParams(params, call, extrasOf(understands, call)),
    // Providers return their reasoning only without strict compliance.
    () => ({ strict: false, dropped: [], adapted: [] }),
  );
  /** True if the provider accepts its own blocks again, so that they can be sent sealed. */
  const opensBlocks = (call: OperationCall): boolean => extrasOf(understands, call).includes('content_blocks');
  return withToolNamespaces({
    ...membersOfChat(chat, chatCallOf),
    toProvider: (params, call) => {
      const chatCall = chatCallOf(call, params);
      const body = chat.toProvider?.(chatCall.params, chatCall) ?? chatCall.params;
      for (const name of chatCall.dropped) noteOnce(call.dropped, inCallersTerms(name));
      for (const name of chatCall.adapted) noteOnce(call.adapted, inCallersTerms(name));
      return body;
    },
    fromProvider: (reply, call) => {
      const chatCall = replying(chatCallOf(call), call);
      const completion = chat.fromProvider?.(reply, chatCall) ?? reply;
      return toResponse(completion, chat.usage(reply, chatCall), call, opensBlocks(call));
    },
    translateStream: (call) => responseStream(chat, replying(chatCallOf(call), call), call, opensBlocks(call)),
  });
}

/**
 * Returns the chat call for the reply. Content of the reply is reported under the same names as on the outer call, so it writes
 * to the outer lists.
 */
function replying(chatCall: OperationCall, { dropped, adapted }: OperationCall): OperationCall {
  return { ...chatCall, dropped, adapted };
}
