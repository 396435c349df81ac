import type { Operation, StreamReader } from '../../contract/provider/provider.ts';
import { withOwnThoughts } from './own-reasoning.ts';
import { messagesStreamReader, usageOfReply } from './usage.ts';

/** Native: the client's bytes go to the provider and its bytes come back. Only thoughts of other models are left out. */
export function anthropicMessages(provider: string): Operation {
  return {
    path: () => '/messages',
    toProvider: withOwnThoughts,
    usage: usageOfReply,
    streamReader: () => messagesStreamReader(provider),
  };
}

/** Native. The `input_tokens` of its reply are an answer, not a consumption, so there is no usage to read. */
export const anthropicCountTokens: Operation = {
  path: () => '/messages/count_tokens',
  toProvider: withOwnThoughts,
  usage: () => null,
  streamReader: neverStreams,
};

function neverStreams(): StreamReader {
  return { push: () => {}, usage: () => null, complete: () => true };
}
