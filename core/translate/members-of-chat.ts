import type { Operation, OperationCall } from '../contract/provider/provider.ts';

/**
 * Returns the members of a chat operation that its calls need in another format too: method and headers of the call, and usage, which is read
 * from the provider's own format. `chatCallOf` returns the chat call that was made from a call.
 */
export function membersOfChat(
  chat: Operation,
  chatCallOf: (call: OperationCall) => OperationCall,
): Pick<Operation, 'path' | 'method' | 'headers' | 'changesInPlace' | 'usage' | 'usageOfCall' | 'streamReader' | 'decodeStream'> {
  const { method, headers, changesInPlace, usageOfCall, decodeStream } = chat;
  return {
    path: (call) => chat.path(chatCallOf(call)),
    ...(method ? { method } : {}),
    ...(headers ? { headers: (call) => headers.call(chat, chatCallOf(call)) } : {}),
    ...(changesInPlace ? { changesInPlace } : {}),
    usage: (reply, call) => chat.usage(reply, call && chatCallOf(call)),
    ...(usageOfCall ? { usageOfCall: (call) => usageOfCall.call(chat, chatCallOf(call)) } : {}),
    streamReader: () => chat.streamReader(),
    ...(decodeStream ? { decodeStream } : {}),
  };
}
