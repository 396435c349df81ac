import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { isCut, isFiltered } from '../finish-reasons.ts';

/** State of a finished reply, in terms of the Responses API. */
export interface Ending {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  /** The reason if the reply is incomplete. */
  readonly reason: 'max_output_tokens' | 'content_filter' | null;
}

/** Fields that differ between the response objects of one call. */
export interface ResponseState {
  readonly id: string;
  readonly model: string;
  readonly ending: Ending;
  readonly output: readonly JsonObject[];
  readonly usage: JsonObject | null;
  readonly error?: JsonObject;
}

/** Returns the whole response object: its state, and the parameters of the request with the defaults of the API. */
export function responseObject(state: ResponseState, call: OperationCall): JsonObject {
  const { params } = call;
  const asked = (name: string, otherwise: unknown): unknown => params[name] ?? otherwise;
  const { effort, summary } = isObject(params.reasoning) ? params.reasoning : ({} as JsonObject);
  return {
    id: state.id,
    object: 'response',
    created_at: call.nowSeconds,
    status: state.ending.status,
    background: false,
    completed_at: state.ending.status === 'completed' ? (call.clockSeconds?.() ?? call.nowSeconds) : null,
    error: state.error ?? null,
    incomplete_details: state.ending.reason === null ? null : { reason: state.ending.reason },
    instructions: asked('instructions', null),
    max_output_tokens: asked('max_output_tokens', null),
    max_tool_calls: asked('max_tool_calls', null),
    model: state.model,
    output: state.output,
    parallel_tool_calls: asked('parallel_tool_calls', true),
    previous_response_id: null,
    prompt_cache_key: asked('prompt_cache_key', null),
    reasoning: { effort: effort ?? null, summary: summary ?? null },
    safety_identifier: asked('safety_identifier', null),
    // The tier that processed the call, not the one that was asked for. It is replaced if the provider reports one.
    service_tier: 'default',
    store: false,
    temperature: asked('temperature', 1),
    text: { ...(isObject(params.text) ? params.text : {}), format: formatOf(params.text) },
    tool_choice: asked('tool_choice', 'auto'),
    tools: Array.isArray(params.tools) ? params.tools.map(shownTool) : [],
    top_logprobs: asked('top_logprobs', 0),
    top_p: asked('top_p', 1),
    presence_penalty: asked('presence_penalty', 0),
    frequency_penalty: asked('frequency_penalty', 0),
    truncation: 'disabled',
    usage: state.usage,
    user: asked('user', null),
    metadata: asked('metadata', {}),
  };
}

/** Clients with fixed types require every field of a function, also those that the request did not have. */
function shownTool(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function') return tool;
  const { description = null, parameters = null, strict } = tool;
  return { ...tool, description, parameters, strict: strict === true };
}

function formatOf(text: unknown): JsonObject {
  const format = isObject(text) && isObject(text.format) ? text.format : { type: 'text' };
  if (format.type !== 'json_schema') return format;
  const { description = null, strict } = format;
  return { ...format, description, strict: strict ?? false };
}

/** Returns the ending for the `finish_reason` of any provider. Unknown reasons become `completed`. */
export function endingOf(finishReason: unknown): Ending {
  if (isCut(finishReason)) return { status: 'incomplete', reason: 'max_output_tokens' };
  if (isFiltered(finishReason)) return { status: 'incomplete', reason: 'content_filter' };
  return { status: 'completed', reason: null };
}
