import type { OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';

/**
 * Models that reject `reasoning_effort`: "does not support parameter reasoningEffort". Grok 3 mini, the multi-agent models, and models from
 * Grok 4.3 on accept it (https://docs.x.ai/developers/model-capabilities/text/reasoning, looked up 2026-11-29).
 */
const rejects = /(^|\/)grok-(2|3(?!-mini)|4(?!\.(?!20))|code|build)(?!.*multi-agent)/i;

/** Returns a chat request without an effort that the model rejects. Claude Code sends one with every request. */
export function withoutRefusedEffort(params: JsonObject, call: OperationCall): JsonObject {
  if (params.reasoning_effort === undefined || !rejects.test(call.model)) return params;
  const { reasoning_effort: effort, ...others } = params;
  if (effort !== null && effort !== 'none') noteOnce(call.dropped, 'reasoning_effort');
  return others;
}
