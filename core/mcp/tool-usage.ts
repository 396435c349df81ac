import type { McpCall } from '../contract/plugin/requests/mcp-call.ts';
import { emptyUsage, type Usage } from '../contract/values/models/usage.ts';

/** Characters of JSON per token, for estimates. */
const charactersPerToken = 4;

/** Estimates the tokens that a model spends on the call of a tool: the message is output of the model, the reply is input. */
export function toolUsage({ messageLength, replyLength }: McpCall): Usage {
  const usage = emptyUsage();
  usage.inputTokens = Math.ceil(replyLength / charactersPerToken);
  usage.outputTokens = Math.ceil(messageLength / charactersPerToken);
  usage.estimated = true;
  return usage;
}
