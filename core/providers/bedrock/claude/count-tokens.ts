import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import type { JsonObject } from '../../../contract/values/json/json.ts';
import { uncounted } from '../../../formats/never-streams.ts';
import { messagesOverConverse } from '../converse/messages.ts';
import { baseModelId, modelSegment } from '../model-id.ts';
import { claudeBody } from './claude-messages.ts';
import { isClaude } from './claude-models.ts';

/**
 * Counts the tokens of a Messages call (CountTokens). It accepts models by their own id only, not by inference profile. The
 * `inputTokens` of its reply are a result, not consumption, so there is no usage to read.
 */
export const messagesCountTokens: Operation = {
  path: (call) => `/model/${modelSegment(countedModel(call.model))}/count-tokens`,
  toProvider: countRequest,
  fromProvider: ({ inputTokens, ...others }) => ({ input_tokens: inputTokens, ...others }),
  ...uncounted,
};

/** ARNs of resources stay unchanged, because they do not contain the model. */
function countedModel(model: string): string {
  return model.startsWith('arn:') && !model.includes('anthropic.') ? model : baseModelId(model);
}

function countRequest(params: JsonObject, call: OperationCall): JsonObject {
  if (isClaude(call.model)) {
    // The body is validated like one that is run, which requires a limit. The limit does not change the count.
    const body = JSON.stringify({ max_tokens: 1, ...claudeBody(params, call) });
    return { input: { invokeModel: { body: Buffer.from(body).toString('base64') } } };
  }
  const { messages, system, toolConfig, additionalModelRequestFields } =
    messagesOverConverse.toProvider?.({ max_tokens: 1, ...params }, call) ?? params;
  const converse = Object.entries({ messages, system, toolConfig, additionalModelRequestFields });
  return { input: { converse: Object.fromEntries(converse.filter(([, value]) => value !== undefined)) } };
}
