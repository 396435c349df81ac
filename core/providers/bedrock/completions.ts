import { isObject, type JsonObject } from '../../contract/json.ts';
import type { Operation, OperationCall, StreamEvent, StreamTranslator } from '../../contract/provider.ts';
import { badParam } from '../shared/bad-param.ts';
import { chatComplete } from './chat-completions.ts';
import { chatReply } from './chat-reply.ts';
import { chatRequest } from './chat-request.ts';
import { chatStream } from './chat-stream.ts';

/** A text completion answered from the Converse API: the prompt is one user message, the reply's text the completion. */
export const complete: Operation = {
  ...chatComplete,
  toProvider: ({ prompt, ...others }, call) =>
    chatRequest({ ...others, messages: [{ role: 'user', content: onePrompt(prompt) }] }, call),
  fromProvider: (reply, call) => completionOf(chatReply(reply, call)),
  translateStream: completionStream,
};

/** Several prompts in one call, or prompts of token numbers, have no counterpart here. */
function onePrompt(prompt: unknown): string {
  if (typeof prompt === 'string') return prompt;
  if (Array.isArray(prompt) && prompt.length === 1 && typeof prompt[0] === 'string') return prompt[0];
  throw badParam('prompt', 'one text is expected by bedrock');
}

function completionOf(chat: JsonObject): JsonObject {
  const choices = Array.isArray(chat.choices) ? chat.choices.filter(isObject) : [];
  return { ...chat, object: 'text_completion', choices: choices.map((choice) => textChoice(choice, choice.message)) };
}

/** Chat chunks with their choices turned into text; chunks that carry neither text nor an end are left out. */
function completionStream(call: OperationCall): StreamTranslator {
  const chat = chatStream(call);
  const translate = (event: StreamEvent): StreamEvent[] => {
    if (!isObject(event.data) || !Array.isArray(event.data.choices)) return [event];
    const choices = event.data.choices.filter(isObject).map((choice) => textChoice(choice, choice.delta));
    const says = choices.length === 0 || choices.some((choice) => choice.text !== '' || choice.finish_reason !== null);
    return says ? [{ event: null, data: { ...event.data, object: 'text_completion', choices } }] : [];
  };
  return { push: (event) => chat.push(event).flatMap(translate), end: () => chat.end().flatMap(translate) };
}

function textChoice(choice: JsonObject, message: unknown): JsonObject {
  const text = isObject(message) && typeof message.content === 'string' ? message.content : '';
  return { text, index: choice.index, logprobs: null, finish_reason: choice.finish_reason };
}
