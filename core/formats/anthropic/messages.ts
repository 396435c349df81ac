import type { Operation } from '../../contract/provider/provider.ts';
import { uncounted } from '../never-streams.ts';
import { refuseError } from './errors.ts';
import { withOwnReasoning } from './own-reasoning.ts';
import { messagesStreamReader, usageOfReply } from './usage.ts';

/** Native Messages API: bytes pass unchanged in both directions. Only reasoning of other models is removed. */
export function anthropicMessages(provider: string): Operation {
  return {
    path: () => '/messages',
    toProvider: withOwnReasoning,
    fromProvider: (reply) => refuseError(reply, provider),
    usage: usageOfReply,
    streamReader: () => messagesStreamReader(provider),
  };
}

/** Native. The `input_tokens` of its reply are a result, not consumption, so there is no usage to read. */
export const anthropicCountTokens: Operation = {
  path: () => '/messages/count_tokens',
  toProvider: withOwnReasoning,
  ...uncounted,
};
