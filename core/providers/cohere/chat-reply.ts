import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, isText, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { dropFromReply } from '../../formats/reply-notes.ts';
import { annotationsOf, type TextStarts } from './citations.ts';
import { finishReasonOf } from './finish-reason.ts';
import { toLogprobs } from './logprobs.ts';
import { toChatUsage, usageOfReply } from './usage.ts';

/**
 * Translates a Chat API reply into a chat completion. The plan for tool calls becomes the text beside them. Without strict
 * compliance the message also carries `content_blocks` and `citations`; with it, content that a chat message cannot hold is
 * reported. Unknown top-level fields are preserved.
 */
export function chatReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { id, message: sent, finish_reason: reason, usage: _usage, logprobs, ...others } = reply;
  const message = isObject(sent) ? sent : {};
  const parts = objectsIn(message.content);
  const texts = [message.tool_plan, ...parts.map((part) => part.text)].filter(isText);
  const reasoning = parts.map((part) => (typeof part.thinking === 'string' ? part.thinking : '')).join('');
  const startOf = startsOf(message);
  const annotations = objectsIn(message.citations).flatMap((citation) => annotationsOf(citation, startOf, call));
  for (const part of parts) reportPart(part.type, call);
  const toolCalls = objectsIn(message.tool_calls);
  const usage = usageOfReply(reply);
  const chatMessage: JsonObject = {
    role: 'assistant',
    content: texts.length === 0 && toolCalls.length > 0 ? null : texts.join(''),
    refusal: null,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(toolCalls.length > 0 ? { tool_calls: toolCalls.map(withArguments) } : {}),
    ...(call.strict ? {} : { content_blocks: parts, ...(message.citations ? { citations: message.citations } : {}) }),
  };
  const choice = {
    index: 0,
    message: chatMessage,
    logprobs: toLogprobs(logprobs),
    finish_reason: finishReasonOf(reason, call.strict),
  };
  return {
    id: typeof id === 'string' ? id : call.newId('chatcmpl-'),
    object: 'chat.completion',
    created: call.nowSeconds,
    model: call.model,
    provider: 'cohere',
    choices: [choice],
    ...(usage === null ? {} : { usage: toChatUsage(usage) }),
    ...others,
  };
}

/** Reports a part of a type that a strict chat message has no field for. */
export function reportPart(type: unknown, call: OperationCall): void {
  if (call.strict && type !== 'text' && type !== 'thinking') dropFromReply(call, type);
}

/** Returns the start of each part of the content in the text of the message. */
function startsOf(message: JsonObject): TextStarts {
  let at = typeof message.tool_plan === 'string' ? message.tool_plan.length : 0;
  const starts = objectsIn(message.content).map((part): [unknown, number] => {
    const start = at;
    at += typeof part.text === 'string' ? part.text.length : 0;
    return [part.type, start];
  });
  const first = starts.find(([type]) => type === 'text')?.[1] ?? at;
  return (index) => (typeof index === 'number' ? (starts[index]?.[1] ?? first) : first);
}

/** The provider returns an empty text for a call without arguments. OpenAI returns `{}`. */
function withArguments(toolCall: JsonObject): JsonObject {
  const fn = isObject(toolCall.function) ? toolCall.function : {};
  return { ...toolCall, function: { ...fn, arguments: fn.arguments || '{}' } };
}
