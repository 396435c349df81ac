import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { stopSequences } from '../../../formats/anthropic/stop-sequences.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { claudeTraits } from '../claude/claude-models.ts';
import type { Reasoning } from './reasoning.ts';

/**
 * Returns length, sampling and stop sequences of a chat call as `inferenceConfig`, as far as the model accepts them. Values that
 * it would refuse are left out and reported. The range of temperature is 0 to 1.
 */
export function inferenceConfig(params: JsonObject, reasoning: Reasoning, call: OperationCall): JsonObject {
  const config: JsonObject = {};
  if (reasoning.maxTokens !== null) config.maxTokens = reasoning.maxTokens;
  Object.assign(config, sampling(params, reasoning.thinks, call), stopSequences('stopSequences', params, call));
  return { ...config, ...(isObject(params.inferenceConfig) ? params.inferenceConfig : {}) };
}

function sampling(params: JsonObject, thinks: boolean, call: OperationCall): JsonObject {
  const given: JsonObject = {};
  if (typeof params.temperature === 'number') given.temperature = Math.min(1, Math.max(0, params.temperature));
  if (given.temperature !== undefined && given.temperature !== params.temperature) noteOnce(call.adapted, 'temperature');
  if (typeof params.top_p === 'number') given.topP = params.top_p;
  const claude = claudeTraits(call.model);
  if (!claude) return given;
  const drop = (name: 'temperature' | 'topP', as: string): void => {
    if (given[name] === undefined) return;
    // Omitting a default changes nothing, so it is not reported.
    if (given[name] !== 1) noteOnce(call.dropped, as);
    delete given[name];
  };
  if (!claude.sampling || thinks) drop('temperature', 'temperature');
  if (!claude.sampling || (thinks && Number(given.topP) < 0.95)) drop('topP', 'top_p');
  // Newer Claude models reject the pair.
  if (given.temperature !== undefined) drop('topP', 'top_p');
  return given;
}
