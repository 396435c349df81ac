import type { OperationCall } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';

/** Models without reasoning. They reject the parameter. */
const plain = /llama|kimi|gemma|mistral|mixtral|allam|compound/i;

/** Efforts of GPT-OSS for OpenAI's other efforts. It cannot be told not to reason. */
const ofGptOss: Readonly<Record<string, string>> = byName({ minimal: 'low', none: 'low', xhigh: 'high', max: 'high' });

/**
 * Returns a chat request whose `reasoning_effort` the model accepts (https://console.groq.com/docs/reasoning, looked up 2026-11-29): GPT-OSS
 * has `low`, `medium` and `high`, Qwen `none` and `default`. Claude Code sends an effort with every request. Returns the same object if
 * nothing changes.
 */
export function withEffortOfModel(params: JsonObject, call: OperationCall): JsonObject {
  const { reasoning_effort: effort, ...others } = params;
  if (typeof effort !== 'string') return params;
  if (plain.test(call.model)) {
    if (effort !== 'none') noteOnce(call.dropped, 'reasoning_effort');
    return others;
  }
  const known = /qwen/i.test(call.model) ? ofQwen(effort) : /gpt-oss/i.test(call.model) ? (ofGptOss[effort] ?? effort) : effort;
  if (known === effort) return params;
  noteOnce(call.adapted, 'reasoning_effort');
  return { ...params, reasoning_effort: known };
}

function ofQwen(effort: string): string {
  return effort === 'none' ? effort : 'default';
}
