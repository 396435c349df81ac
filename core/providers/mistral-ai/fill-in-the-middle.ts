import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { StreamEvent } from '../../contract/provider/stream-event.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { onePrompt } from '../../formats/one-prompt.ts';
import { chatCompletions } from '../../formats/openai/chat-completions.ts';
import type { ChatQuirks } from '../../formats/openai/chat-quirks.ts';

const path = '/fim/completions';

/** OpenAI's text completion parameters that the FIM endpoint lacks (it returns 422 for unknown ones). */
const refuses = ['best_of', 'echo', 'frequency_penalty', 'logit_bias', 'logprobs', 'n', 'presence_penalty', 'user'];

const quirks: ChatQuirks = {
  renames: { max_completion_tokens: 'max_tokens', seed: 'random_seed' },
  refuses,
  streamUsage: 'always',
  ownFinishReasons: true,
};

/**
 * Text completions by fill-in-the-middle (https://docs.mistral.ai/api, POST /v1/fim/completions). `prompt` and `suffix` are sent
 * unchanged. The reply is a chat completion and is converted to a text completion. Throws `bad_request` for prompts that are not
 * a text.
 */
export function fillInTheMiddle(id: string): Operation {
  const chat = chatCompletions(id, quirks, () => path);
  return {
    ...chat,
    toProvider: (params, call) => {
      const body = chat.toProvider?.(params, call) ?? params;
      const prompt = onePrompt(params.prompt, id);
      return body.prompt === prompt ? body : { ...body, prompt };
    },
    fromProvider: (reply, call) => textCompletion(chat.fromProvider?.(reply, call) ?? reply, 'message'),
    translateStream: (call) => {
      const inner = chat.translateStream?.(call) ?? null;
      const asText = (event: StreamEvent): StreamEvent =>
        isObject(event.data) && Array.isArray(event.data.choices)
          ? { event: null, data: textCompletion(event.data, 'delta') }
          : event;
      return {
        push: (event) => (inner === null ? [event] : inner.push(event)).map(asText),
        end: () => (inner?.end() ?? []).map(asText),
      };
    },
  };
}

/**
 * Chat completions for the FIM endpoint, selected by `mistral_fim_completion`. The body has `prompt` and `suffix` instead of
 * messages, and the reply is a chat completion already.
 */
export function chatOrFillInTheMiddle(id: string, chat: Operation): Operation {
  const fim = chatCompletions(id, quirks, () => path);
  const asked = (call: OperationCall): boolean => String(call.settings.mistral_fim_completion) === 'true';
  return {
    ...chat,
    path: (call) => (asked(call) ? path : chat.path(call)),
    toProvider: (params, call) => (asked(call) ? fim : chat).toProvider?.(params, call) ?? params,
  };
}

function textCompletion(chat: JsonObject, member: 'message' | 'delta'): JsonObject {
  const choices = objectsIn(chat.choices);
  return {
    ...chat,
    object: 'text_completion',
    choices: choices.map((choice) => {
      const message = choice[member];
      const text = isObject(message) && typeof message.content === 'string' ? message.content : '';
      return { text, index: choice.index, logprobs: null, finish_reason: choice.finish_reason ?? null };
    }),
  };
}
