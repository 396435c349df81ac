import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent, StreamReader } from '../../contract/provider/stream-event.ts';
import type { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { emptyUsage, serviceTierOf, type Usage, type UsageUnit } from '../../contract/values/models/usage.ts';
import { isSealedHere } from '../../translate/responses-over-chat/sealed-reasoning.ts';
import { noteOnce } from '../note-once.ts';
import { errorIn } from './chat-stream-reader.ts';
import { tokenCount } from './chat-usage.ts';
import { refuseError, streamError } from './provider-error.ts';

/**
 * The Responses API of a provider that has it (https://platform.openai.com/docs/api-reference/responses). Bytes pass unchanged in
 * both directions. Only reasoning of models reached over chat completions is removed.
 */
export function responses(id: string, path: (call: OperationCall) => string): Operation {
  return {
    path,
    toProvider: withReadableReasoning,
    fromProvider: (reply) => refuseError(id, reply, 'output'),
    usage: usageOfResponse,
    streamReader: () => responsesStreamReader(id),
  };
}

/**
 * Returns a Responses call without reasoning items that another provider signed: in a conversation that moved between providers
 * they make the whole call fail. Only those of models reached over chat completions are marked, so that all encrypted ones are left out if the
 * provider has refused the call. Returns the same object if there are none.
 */
export function withReadableReasoning(params: JsonObject, call: OperationCall): JsonObject {
  const { input } = params;
  const isLeftOut = (item: unknown): boolean => isObject(item) && item.type === 'reasoning' && isUnreadable(item, call);
  if (!Array.isArray(input) || !input.some(isLeftOut)) return params;
  noteOnce(call.dropped, 'input.reasoning');
  return { ...params, input: input.filter((item) => !isLeftOut(item)) };
}

function isUnreadable({ encrypted_content: sealed }: JsonObject, { withoutReasoning }: OperationCall): boolean {
  return isSealedHere(sealed) || (withoutReasoning === true && typeof sealed === 'string');
}

/**
 * Returns the usage of a response; null if it has none. `raw` also has its `tool_usage`: searches that OpenAI bills per request, and tokens of
 * images with the model that has made them. `svg_usage` has the tokens of each SVG with the model that has written it. Searches in stores of files and
 * runs of code are counted by their items.
 */
export function usageOfResponse({ usage, service_tier: serviceTier, tool_usage: used, tools, output }: JsonObject): Usage | null {
  if (!isObject(usage)) return null;
  const svgUsage = objectsIn(output).flatMap(({ svg_usage: counts }) => (isObject(counts) ? [counts] : []));
  const beside = {
    ...(isObject(used) ? { tool_usage: withImageModel(used, tools) } : {}),
    ...(svgUsage.length > 0 ? { svg_usage: svgUsage } : {}),
  };
  const raw = Object.keys(beside).length === 0 ? usage : { ...usage, ...beside };
  const items = objectsIn(output);
  return withToolCalls(responsesUsage(raw, serviceTier), (type) => items.filter((item) => item.type === type).length);
}

/** Units of tools that OpenAI bills beside the tokens, by the type of their items. Its usage does not count them. */
const toolUnits: readonly (readonly [type: string, unit: UsageUnit])[] = [
  ['file_search_call', 'file_search'],
  ['code_interpreter_call', 'code_interpreter'],
];

/** Returns the usage with the calls of tools. `countOf` returns the number of items of a type. */
export function withToolCalls(usage: Usage, countOf: (type: string) => number): Usage {
  const found = toolUnits.map(([type, unit]) => [unit, countOf(type)] as const).filter(([, count]) => count > 0);
  return found.length === 0 ? usage : { ...usage, units: { ...usage.units, ...Object.fromEntries(found) } };
}

function withImageModel(used: JsonObject, tools: unknown): JsonObject {
  const tool = objectsIn(tools).find(({ type }) => type === 'image_generation');
  return isObject(used.image_gen) && tool?.model ? { ...used, image_gen: { ...used.image_gen, model: tool.model } } : used;
}

/** Converts the `usage` object of a response to our counts. `serviceTier` is that of the response. */
export function responsesUsage(raw: JsonObject, serviceTier: unknown = null): Usage {
  const input = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {};
  const output = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {};
  const inputTokens = tokenCount(raw.input_tokens);
  const cacheReadTokens = Math.min(inputTokens, tokenCount(input.cached_tokens));
  const cacheWriteTokens = Math.min(inputTokens - cacheReadTokens, tokenCount(input.cache_write_tokens));
  return {
    ...emptyUsage(),
    inputTokens: inputTokens - cacheReadTokens - cacheWriteTokens,
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: tokenCount(raw.output_tokens),
    reasoningTokens: tokenCount(output.reasoning_tokens),
    serviceTier: serviceTierOf(serviceTier),
    raw,
  };
}

/**
 * Returns the error in an event of a Responses stream, null for none: of the type `error`, or in a form of chat completions, which servers
 * with both APIs use.
 */
export function responsesErrorIn(event: StreamEvent): unknown {
  const { data } = event;
  const type = isObject(data) ? data.type : null;
  if (typeof type === 'string' && type.startsWith('response.') && event.event !== 'error') return null;
  return errorIn(event) ?? (type === 'error' ? data : null);
}

const unusedMembers = ['delta', 'text', 'sequence_number', 'obfuscation'];
/** Each has all instructions and tools of the request. */
const unreadEvents = new Set(['response.created', 'response.in_progress', 'response.queued']);
const terminal = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Follows a stream of response events. The terminal event carries the whole response with its token counts. */
function responsesStreamReader(id: string): StreamReader {
  let usage: Usage | null = null;
  let complete = false;
  let error: GatewayError | null = null;
  return {
    unused: unusedMembers,
    unread: unreadEvents,
    push(given) {
      const { event, data } = given;
      const failure = responsesErrorIn(given);
      if (failure !== null) error ??= streamError(id, failure);
      if (!isObject(data)) return;
      const type = typeof data.type === 'string' ? data.type : event;
      if (type === null || !terminal.has(type)) return;
      complete = true;
      if (!isObject(data.response)) return;
      usage = usageOfResponse(data.response) ?? usage;
      if (type === 'response.failed') error ??= streamError(id, data.response.error);
    },
    usage: () => usage,
    complete: () => complete,
    error: () => error,
  };
}
