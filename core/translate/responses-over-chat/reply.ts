import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { dropFromReply } from '../../formats/reply-notes.ts';
import { ChatMessageReader } from '../chat-message-reader.ts';
import { idInFormat, passedFields, reportChoice } from '../reply-fields.ts';
import { outputItems } from './output-items.ts';
import { endingOf, responseObject } from './response-object.ts';
import { responseUsage } from './usage.ts';

/**
 * Translates a chat completion into a response object. Unknown top-level fields are preserved. `seals`: see
 * `messages-over-chat/reply.ts`.
 */
export function toResponse(completion: JsonObject, usage: Usage | null, call: OperationCall, seals: boolean): JsonObject {
  const { id, model, choices, service_tier: tier } = completion;
  const choice = Array.isArray(choices) && isObject(choices[0]) ? choices[0] : {};
  const ending = endingOf(choice.finish_reason);
  const items = outputItems(call, seals);
  const reader = new ChatMessageReader(items, call);
  if (isObject(choice.message)) reader.add(choice.message, choice.logprobs);
  reader.finish();
  reportChoice(choice, call);
  if (Array.isArray(choices) && choices.length > 1) dropFromReply(call, 'choices');
  items.finish(ending.status === 'incomplete');
  const state = {
    id: idInFormat('resp_', id, call),
    model: typeof model === 'string' && model !== '' ? model : call.model,
    ending,
    output: items.output(),
    usage: responseUsage(usage),
  };
  return {
    ...passedFields(completion),
    ...responseObject(state, call),
    ...(typeof tier === 'string' ? { service_tier: tier } : {}),
  };
}
