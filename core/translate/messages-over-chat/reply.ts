import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { emptyUsage, type Usage } from '../../contract/values/models/usage.ts';
import { dropFromReply, dropUnread } from '../../formats/reply-notes.ts';
import { ChatMessageReader } from '../chat-message-reader.ts';
import { idInFormat, passedFields, reportChoice } from '../reply-fields.ts';
import { blockSequence, blocksOfEvents } from './block-sequence.ts';
import { endingOf } from './stop-reason.ts';

/**
 * Translates a chat completion into a Messages reply, with its blocks assembled like those of a stream. Unknown top-level fields
 * are preserved. `seals`: the provider's own blocks are sent sealed (`sealed-blocks.ts`) instead of being dropped.
 */
export function toMessagesReply(completion: JsonObject, usage: Usage | null, call: OperationCall, seals: boolean): JsonObject {
  const { id, model, choices } = completion;
  const choice = Array.isArray(choices) && isObject(choices[0]) ? choices[0] : {};
  const blocks = blockSequence(call, seals);
  const reader = new ChatMessageReader(blocks, call);
  const events = isObject(choice.message) ? reader.add(choice.message, choice.logprobs) : [];
  const content = blocksOfEvents([...events, ...reader.finish(), ...blocks.finish()]);
  reportMessagesChoice(choice, call);
  if (Array.isArray(choices) && choices.length > 1) dropFromReply(call, 'choices');
  return {
    ...passedFields(completion),
    id: idInFormat('msg_', id, call),
    type: 'message',
    role: 'assistant',
    model: typeof model === 'string' ? model : call.model,
    content,
    ...endingOf(choice, blocks),
    usage: messagesUsage(usage ?? emptyUsage()),
  };
}

/** Reports the fields of a choice outside its message. */
export function reportMessagesChoice(choice: JsonObject, call: OperationCall): void {
  reportChoice(choice, call);
  if (isObject(choice.logprobs)) dropUnread({ logprobs: choice.logprobs.content }, nothingRead, call);
}

const nothingRead: ReadonlySet<string> = new Set();

/** Converts usage to the `usage` of a Messages reply, where `input_tokens` excludes tokens read from or written to the cache. */
export function messagesUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    output_tokens_details: usage.reasoningTokens > 0 ? { thinking_tokens: usage.reasoningTokens } : null,
  };
}
