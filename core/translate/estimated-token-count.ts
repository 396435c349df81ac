import type { Operation, OperationCall } from '../contract/provider/provider.ts';
import { promptTexts } from '../contract/values/models/prompt-text.ts';
import { uncounted } from '../formats/never-streams.ts';
import { adaptInReply } from '../formats/reply-notes.ts';

/**
 * Anthropic's token count for a provider without one: the gateway's own estimate of the texts, without a call to the provider. The reply
 * lists `reply.input_tokens` in `x-svc-adapted`. Images and files count nothing.
 */
export const estimatedTokenCount: Operation = {
  path: () => '/messages/count_tokens',
  async steps(call, { countTokens }) {
    const tokens = await countTokens(promptTexts(call.params));
    adaptInReply(call, 'input_tokens');
    return { status: 200, contentType: 'application/json', body: { input_tokens: tokens } };
  },
  ...uncounted,
};

/** Returns the token count of a provider that counts for some of its models. All others get the estimate. */
export function countOrEstimate(counts: (call: OperationCall) => boolean, counted: Operation): Operation {
  return { ...counted, ofCall: (call) => (counts(call) ? counted : estimatedTokenCount) };
}
