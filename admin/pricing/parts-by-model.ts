import type { MediaRecord, RequestRecord } from '../../core/contract/plugin/record/record.ts';
import { isObject, isText, type JsonObject, objectsIn } from '../../core/contract/values/json/json.ts';
import { statedCount } from '../../core/contract/values/models/usage.ts';

/** A record whose usage is that of one model. */
export interface PartOfCall {
  readonly record: RequestRecord;
  /** True: usage without a known price is left out. False: the record's own model sets its price then. */
  readonly isExtra: boolean;
}

/**
 * Returns the usage that models beside the record's own one have served, and the record without it: calls of Anthropic's advisor tool, which the
 * tokens of the record include, and images of OpenAI's image tool and the text of an SVG, which they do not.
 */
export function partsByModel(record: RequestRecord): { readonly own: RequestRecord; readonly others: readonly PartOfCall[] } {
  const advisors = objectsIn(record.rawUsage?.iterations).filter(
    ({ type, model }) => type === 'advisor_message' && isText(model),
  );
  const beside = [imageTool(record.rawUsage), record.rawUsage?.svg_usage].flat().filter(isUsageOfModel);
  if (advisors.length === 0 && beside.length === 0) return { own: record, others: [] };
  const advised = advisors.map((counts) => ({ record: advisedCall(record, counts), isExtra: false }));
  const drawn = beside.map((counts) => ({ record: imageCall(record, counts), isExtra: true }));
  return { own: advised.reduce((left, part) => without(left, part.record), record), others: [...advised, ...drawn] };
}

function advisedCall(record: RequestRecord, counts: JsonObject): RequestRecord {
  return {
    ...partOf(record, counts),
    inputTokens: tokens(counts.input_tokens),
    cacheReadTokens: tokens(counts.cache_read_input_tokens),
    cacheWriteTokens: tokens(counts.cache_creation_input_tokens),
  };
}

/** `input_tokens` includes cached tokens in OpenAI's counts. */
function imageCall(record: RequestRecord, counts: JsonObject): RequestRecord {
  const input = isObject(counts.input_tokens_details) ? counts.input_tokens_details : {};
  const output = isObject(counts.output_tokens_details) ? counts.output_tokens_details : {};
  const inputTokens = tokens(counts.input_tokens);
  const cacheReadTokens = Math.min(inputTokens, tokens(input.cached_tokens));
  const media = {
    ...{ audioInputTokens: 0, audioOutputTokens: 0, units: {} },
    ...{ imageInputTokens: tokens(input.image_tokens), imageOutputTokens: tokens(output.image_tokens) },
  } satisfies MediaRecord;
  return { ...partOf(record, counts), inputTokens: inputTokens - cacheReadTokens, cacheReadTokens, cacheWriteTokens: 0, media };
}

function partOf(record: RequestRecord, counts: JsonObject): RequestRecord {
  const { media: _media, image: _image, session: _session, ...call } = record;
  return {
    ...call,
    model: String(counts.model),
    outputTokens: tokens(counts.output_tokens),
    reasoningTokens: 0,
    rawUsage: counts,
  };
}

function imageTool(rawUsage: RequestRecord['rawUsage']): unknown {
  const tools = rawUsage?.tool_usage;
  return isObject(tools) ? tools.image_gen : null;
}

/** True for counts that name their model. */
function isUsageOfModel(counts: unknown): counts is JsonObject {
  return isObject(counts) && isText(counts.model) && tokens(counts.input_tokens) + tokens(counts.output_tokens) > 0;
}

function without(record: RequestRecord, part: RequestRecord): RequestRecord {
  return {
    ...record,
    inputTokens: Math.max(0, record.inputTokens - part.inputTokens),
    cacheReadTokens: Math.max(0, record.cacheReadTokens - part.cacheReadTokens),
    cacheWriteTokens: Math.max(0, record.cacheWriteTokens - part.cacheWriteTokens),
    outputTokens: Math.max(0, record.outputTokens - part.outputTokens),
  };
}

function tokens(value: unknown): number {
  const count = statedCount(value);
  return count > 0 && Number.isFinite(count) ? Math.round(count) : 0;
}
