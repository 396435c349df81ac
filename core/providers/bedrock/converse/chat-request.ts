import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { schemaWithoutBounds } from '../../../formats/json-schema-bounds.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { reportImageDetail } from '../../../formats/openai/image-detail.ts';
import { type LostParams, passedParams, textOnly } from '../../../formats/openai/passed-params.ts';
import { claudeTraits } from '../claude/claude-models.ts';
import { toConversation } from './chat-messages.ts';
import { contentBlocks, documentNames } from './content-parts.ts';
import { inferenceConfig } from './inference-config.ts';
import { isModelField, modelFields } from './model-fields.ts';
import { reasoningOf } from './reasoning.ts';
import { takesSchemas } from './schema-support.ts';
import { toolConfig } from './tools.ts';

/** Chat parameters that are read here and sent under other names or not at all. All others are sent unchanged. */
const readParams: ReadonlySet<string> = new Set([
  ...['model', 'stream', 'stream_options', 'messages', 'system', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p'],
  ...['stop', 'tools', 'tool_choice', 'parallel_tool_calls', 'functions', 'function_call', 'response_format', 'service_tier'],
  ...['reasoning_effort', 'thinking', 'user', 'safety_identifier', 'metadata', 'inferenceConfig', 'outputConfig'],
  ...['additionalModelRequestFields', 'requestMetadata'],
]);

/** Chat parameters that the provider lacks. */
const lostParams: LostParams = { ...textOnly, cache_control: undefined };

/**
 * Translates an OpenAI chat call into a Converse call. Unknown parameters are passed, so clients can add the provider's own
 * (`guardrailConfig`, `performanceConfig`, …). Throws `bad_request` naming the parameter it cannot carry over.
 */
export function chatRequest(params: JsonObject, call: OperationCall): JsonObject {
  const isRead = (name: string): boolean => readParams.has(name) || isModelField(name, call.model);
  const passed = passedParams(params, call, isRead, lostParams);
  reportImageDetail(params.messages, call);
  const { system, messages } = toConversation(params.messages, call);
  const asked = [params.max_completion_tokens, params.max_tokens].find((value) => typeof value === 'number');
  const reasoning = reasoningOf(params, (asked as number | undefined) ?? null, messages, call);
  const format = outputFormat(params, call);
  const instructions = [...contentBlocks(params.system, 'system', documentNames(), call), ...system, ...format.instructions];
  const fields = { ...modelFields(params, call), ...reasoning.fields, ...asObject(params.additionalModelRequestFields) };
  const effort = reasoning.effort === null ? {} : { effort: reasoning.effort };
  return {
    messages,
    ...(instructions.length > 0 ? { system: instructions } : {}),
    ...unlessEmpty('inferenceConfig', inferenceConfig(params, reasoning, call)),
    ...toolConfig(params, messages, call),
    ...unlessEmpty('additionalModelRequestFields', fields),
    ...unlessEmpty('outputConfig', { ...format.config, ...effort, ...asObject(params.outputConfig) }),
    ...unlessEmpty('requestMetadata', requestMetadata(params, call)),
    ...serviceTier(params, call),
    ...stopSequencePath(params, call),
    ...passed,
  };
}

/** Uses structured output if the model supports it. For other models the schema becomes an instruction, which is less strict. */
function outputFormat(params: JsonObject, call: OperationCall): { config: JsonObject; instructions: JsonObject[] } {
  const format = asObject(params.response_format);
  const instructed = (text: string): { config: JsonObject; instructions: JsonObject[] } => {
    noteOnce(call.adapted, 'response_format');
    return { config: {}, instructions: [{ text }] };
  };
  const asJson = 'Answer with one valid JSON value and nothing else: no introduction, no code fence.';
  if (format.type === 'json_object') return instructed(asJson);
  if (format.type !== 'json_schema') {
    if (params.response_format && format.type !== 'text') noteOnce(call.dropped, 'response_format');
    return { config: {}, instructions: [] };
  }
  const { name, description, schema } = asObject(format.json_schema);
  if (!isObject(schema)) return instructed(asJson);
  if (!takesSchemas(call.model))
    return instructed(`${asJson} It must be valid under this JSON schema: ${JSON.stringify(schema)}`);
  const compiled = schemaWithoutBounds(schema, { closesObjects: true, changed: () => noteOnce(call.adapted, 'response_format') });
  const jsonSchema = {
    schema: JSON.stringify(compiled),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
  };
  return { config: { textFormat: { type: 'json_schema', structure: { jsonSchema } } }, instructions: [] };
}

/** Characters allowed in the provider's request metadata. Values with other characters would be rejected. */
const metadataText = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;

/** Returns `metadata` and `user` as metadata for the account's invocation log, their only use at this provider. */
function requestMetadata(params: JsonObject, call: OperationCall): JsonObject {
  const passed: JsonObject = {};
  const { safety_identifier: safetyId } = params;
  const user = params.user ?? safetyId;
  if (safetyId !== undefined && safetyId !== null && safetyId !== user) noteOnce(call.dropped, 'safety_identifier');
  const given = { ...asObject(params.metadata), ...(user === undefined || user === null ? {} : { user }) };
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === 'string' && metadataText.test(name) && metadataText.test(value)) passed[name] = value;
    else noteOnce(call.dropped, name === 'user' ? 'user' : 'metadata');
  }
  return { ...passed, ...asObject(params.requestMetadata) };
}

/**
 * Claude returns the stop sequence that ended the reply only on request, and only callers without strict compliance have a field
 * for it.
 */
function stopSequencePath({ stop }: JsonObject, call: OperationCall): JsonObject {
  const stops = typeof stop === 'string' || (Array.isArray(stop) && stop.length > 0);
  if (!stops || call.strict || claudeTraits(call.model) === null) return {};
  return { additionalModelResponseFieldPaths: ['/delta/stop_sequence'] };
}

function serviceTier(params: JsonObject, call: OperationCall): JsonObject {
  const tier = params.service_tier;
  if (tier === undefined || tier === null || tier === 'auto') return {};
  if (tier === 'default' || tier === 'flex' || tier === 'priority') return { serviceTier: { type: tier } };
  noteOnce(call.dropped, 'service_tier');
  return {};
}

function unlessEmpty(name: string, value: JsonObject): JsonObject {
  return Object.keys(value).length > 0 ? { [name]: value } : {};
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
