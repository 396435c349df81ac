import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../../contract/values/json/json.ts';
import { dropUnread } from '../../reply-notes.ts';
import { toChatUsage, usageOfReply } from '../usage.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toLogprobs } from './logprobs.ts';
import { partsReader, type ReplyMessage, wholeBlocks } from './reply-parts.ts';
import { extraContent } from './signatures.ts';

/**
 * Translates a generateContent reply into a chat completion. Without strict compliance, messages also carry `content_blocks`
 * (reasoning with its signatures, executed code, …), and choices carry Gemini's other fields (grounding, citations, safety
 * ratings). With strict compliance, parts that a chat message cannot hold are reported. Unknown top-level fields are preserved.
 */
export function chatReply(reply: JsonObject, call: OperationCall, provider: string): JsonObject {
  const {
    candidates,
    promptFeedback,
    usageMetadata: _usage,
    modelVersion,
    responseId,
    createTime: _created,
    modelStatus: _status,
    ...others
  } = reply;
  const found = objectsIn(candidates);
  const refusal = refusalOf(promptFeedback);
  const usage = usageOfReply(reply);
  if (call.strict && refusal === null) dropUnread({ promptFeedback }, nothingRead, call);
  return {
    id: typeof responseId === 'string' ? responseId : call.newId('chatcmpl-'),
    object: 'chat.completion',
    created: call.nowSeconds,
    model: typeof modelVersion === 'string' ? modelVersion : call.model,
    provider,
    choices:
      found.length === 0 && refusal !== null
        ? [{ index: 0, message: refusedMessage(refusal), logprobs: null, finish_reason: 'content_filter' }]
        : found.map((candidate, index) => choiceOf(candidate, index, call)),
    ...(usage === null ? {} : { usage: toChatUsage(usage, call.strict) }),
    ...(call.strict || promptFeedback === undefined ? {} : { promptFeedback }),
    ...others,
  };
}

const nothingRead: ReadonlySet<string> = new Set();

/** Returns the provider's reason for refusing the prompt; null if the prompt was not refused. */
export function refusalOf(promptFeedback: unknown): string | null {
  if (!isObject(promptFeedback) || typeof promptFeedback.blockReason !== 'string') return null;
  const { blockReason, blockReasonMessage } = promptFeedback;
  return typeof blockReasonMessage === 'string' ? blockReasonMessage : `The prompt was blocked: ${blockReason}`;
}

/** Returns the fields of a candidate beside its message, for clients without strict compliance. */
export function lenientFields(candidate: JsonObject): JsonObject {
  const {
    content: _content,
    finishReason: _reason,
    index: _index,
    logprobsResult: _logprobs,
    tokenCount: _count,
    ...rest
  } = candidate;
  return rest;
}

/** The fields of a message or delta that carry more than text. */
export function messageFields(message: ReplyMessage): JsonObject {
  return {
    ...(message.reasoning === '' ? {} : { reasoning_content: message.reasoning }),
    ...(message.annotations.length > 0 ? { annotations: message.annotations } : {}),
    ...(message.citations.length > 0 ? { citations: message.citations } : {}),
    ...(message.images.length > 0 ? { images: message.images } : {}),
    ...(message.signature === null ? {} : extraContent(message.signature)),
  };
}

function choiceOf(candidate: JsonObject, position: number, call: OperationCall): JsonObject {
  const reader = partsReader(call);
  const found = reader.read(candidate);
  const message: JsonObject = {
    role: 'assistant',
    content: found.content,
    refusal: null,
    ...(found.toolCalls.length > 0 ? { tool_calls: found.toolCalls } : {}),
    ...messageFields(found),
    ...(call.strict ? {} : { content_blocks: wholeBlocks(found.blocks) }),
  };
  return {
    index: typeof candidate.index === 'number' ? candidate.index : position,
    message,
    logprobs: toLogprobs(candidate.logprobsResult),
    finish_reason: finishReasonOf(candidate.finishReason, reader.callsTools(), call.strict),
    ...(call.strict ? {} : lenientFields(candidate)),
  };
}

function refusedMessage(refusal: string): JsonObject {
  return { role: 'assistant', content: null, refusal };
}
