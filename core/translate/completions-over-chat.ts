import type { Operation, OperationCall } from '../contract/provider/provider.ts';
import type { StreamEvent, StreamTranslator } from '../contract/provider/stream-event.ts';
import { isObject, type JsonObject, objectsIn } from '../contract/values/json/json.ts';
import { noteOnce } from '../formats/note-once.ts';
import { onePrompt } from '../formats/one-prompt.ts';
import { pickFormat } from '../formats/pick-format.ts';
import { dropUnread } from '../formats/reply-notes.ts';
import { convertEvents } from './convert-events.ts';

/**
 * Text completions of a provider that has only chat. The prompt becomes one user message, the reply's text the completion. A
 * number of log probabilities is reported as dropped, because chat has a switch instead and its probabilities another form.
 */
export function completionsOverChat(chat: Operation, provider: string): Operation {
  return {
    ...chat,
    toProvider: ({ prompt, logprobs, ...others }, call) => {
      if (logprobs !== undefined && logprobs !== null) noteOnce(call.dropped, 'logprobs');
      const params = { ...others, messages: [{ role: 'user', content: onePrompt(prompt, provider) }] };
      return chat.toProvider?.(params, call) ?? params;
    },
    fromProvider: (reply, call) => completionOf(chat.fromProvider?.(reply, call) ?? reply, call),
    translateStream: (call) => completionStream(chat, call),
  };
}

/** Text completions of a provider whose chat completions serve some models. */
export function completionsOrChat(
  own: Operation,
  chat: Operation,
  provider: string,
  byChat: (call: OperationCall) => boolean,
): Operation {
  const formatOf = (object: unknown) => (object === 'text_completion' ? 'completion' : 'chat');
  return pickFormat({ completion: own, chat: completionsOverChat(chat, provider) }, 'completion', {
    ofCall: (call) => (byChat(call) ? 'chat' : 'completion'),
    ofReply: ({ object }) => formatOf(object),
    // The first event of Azure has an empty object.
    ofEvent: ({ object }) => (object === undefined || object === '' ? null : formatOf(object)),
  });
}

function completionOf(chat: JsonObject, call: OperationCall): JsonObject {
  const choices = objectsIn(chat.choices);
  return { ...chat, object: 'text_completion', choices: choices.map((choice) => textChoice(choice, choice.message, call)) };
}

/** Converts the choices of chat chunks to text. Chunks without text or a finish reason are dropped. */
function completionStream(chat: Operation, call: OperationCall): StreamTranslator {
  const inner = chat.translateStream?.(call) ?? null;
  const translate = (event: StreamEvent): StreamEvent[] => {
    if (!isObject(event.data) || !Array.isArray(event.data.choices)) return [event];
    const choices = event.data.choices.filter(isObject).map((choice) => textChoice(choice, choice.delta, call));
    const says = choices.length === 0 || choices.some((choice) => choice.text !== '' || choice.finish_reason !== null);
    return says ? [{ event: null, data: { ...event.data, object: 'text_completion', choices } }] : [];
  };
  return convertEvents(inner, translate);
}

/** Fields of a message that have another form in a text completion. Native blocks repeat them. */
const readFields: ReadonlySet<string> = new Set(['role', 'content', 'content_blocks', 'extra_content']);

/** Text completions hold text only. Other content of the message is reported. */
function textChoice(choice: JsonObject, message: unknown, call: OperationCall): JsonObject {
  if (isObject(message)) dropUnread(message, readFields, call);
  const text = isObject(message) && typeof message.content === 'string' ? message.content : '';
  return { text, index: choice.index, logprobs: null, finish_reason: choice.finish_reason };
}
