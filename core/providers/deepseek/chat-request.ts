import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../../formats/note-once.ts';

/** Adapts reasoning and structured output of a chat request to DeepSeek. Returns the same object when nothing changes. */
export function deepseekRequest(params: JsonObject, call: OperationCall): JsonObject {
  return withJsonObject(withReasoning(params, call), call);
}

/** Types of Anthropic's clients that DeepSeek rejects. `between_tools` is the least reasoning that some Claude models accept. */
const typesOfClaude: ReadonlyMap<unknown, string> = new Map([
  ['adaptive', 'enabled'],
  ['between_tools', 'disabled'],
]);

/**
 * `thinking` has the types `enabled` and `disabled` here and no budget. `reasoning_effort` starts at `low`; `none` is spelled as
 * `thinking: {type: 'disabled'}`.
 */
function withReasoning(params: JsonObject, call: OperationCall): JsonObject {
  const { thinking, reasoning_effort: effort, ...others } = params;
  const known = isObject(thinking) ? knownThinking(thinking, call) : thinking;
  if (effort !== 'none' && effort !== 'minimal') return known === thinking ? params : { ...params, thinking: known };
  noteOnce(call.adapted, 'reasoning_effort');
  if (effort === 'minimal') return { ...params, ...(known === undefined ? {} : { thinking: known }), reasoning_effort: 'low' };
  return { ...others, thinking: known ?? { type: 'disabled' } };
}

function knownThinking(thinking: JsonObject, call: OperationCall): JsonObject {
  const type = typesOfClaude.get(thinking.type) ?? thinking.type;
  if (type === thinking.type && Object.keys(thinking).length === 1) return thinking;
  noteOnce(call.adapted, 'thinking');
  return { type };
}

/** DeepSeek refuses `json_schema`. `json_object` requires that the prompt asks for JSON, so the schema goes into a system message. */
function withJsonObject(params: JsonObject, call: OperationCall): JsonObject {
  const format = params.response_format;
  if (!isObject(format) || format.type !== 'json_schema' || !Array.isArray(params.messages)) return params;
  noteOnce(call.adapted, 'response_format');
  const schema = isObject(format.json_schema) ? format.json_schema.schema : undefined;
  const rule = isObject(schema) ? ` It must be valid under this JSON schema: ${JSON.stringify(schema)}` : '';
  const content = `Answer with one valid JSON object and nothing else: no introduction, no code fence.${rule}`;
  return { ...params, response_format: { type: 'json_object' }, messages: [{ role: 'system', content }, ...params.messages] };
}
