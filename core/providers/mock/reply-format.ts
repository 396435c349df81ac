import type { JsonObject } from '../../contract/values/json.ts';
import { isObject } from '../../contract/values/json.ts';
import type { MockAnswer } from './answer.ts';

/** The kind of reply object, chat or text completion, and its call. */
export interface ReplyFrame {
  readonly kind: 'chat' | 'text';
  readonly id: string;
  readonly model: string;
  readonly createdSeconds: number;
}

/** Returns the plain reply. */
export function plainReply(frame: ReplyFrame, answer: MockAnswer): JsonObject {
  const choice =
    frame.kind === 'chat'
      ? { index: 0, message: chatMessage(answer), logprobs: null, finish_reason: answer.finishReason }
      : { index: 0, text: answer.text, logprobs: null, finish_reason: answer.finishReason };
  const object = frame.kind === 'chat' ? 'chat.completion' : 'text_completion';
  return { ...headOf(frame, object), choices: [choice], ...(answer.usage ? { usage: answer.usage } : {}) };
}

/** Returns the events of the streamed reply, `[DONE]` included, as text. */
export function streamedReply(frame: ReplyFrame, answer: MockAnswer, chunks: number | null, body: JsonObject): string[] {
  const asked = isObject(body.stream_options) && body.stream_options.include_usage === true && answer.usage !== null;
  const object = frame.kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
  const head = { ...headOf(frame, object), ...(asked ? { usage: null } : {}) };
  const choices = frame.kind === 'chat' ? chatChoices(answer, chunks) : textChoices(answer, chunks);
  const events: JsonObject[] = choices.map((choice) => ({ ...head, choices: [choice] }));
  if (asked) events.push({ ...head, choices: [], usage: answer.usage });
  return [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'];
}

function chatMessage(answer: MockAnswer): JsonObject {
  if (answer.toolCalls.length === 0) return { role: 'assistant', content: answer.text, refusal: null };
  const calls = answer.toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return { role: 'assistant', content: null, refusal: null, tool_calls: calls };
}

function chatChoices(answer: MockAnswer, chunks: number | null): JsonObject[] {
  const choice = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finish,
  });
  const calls = answer.toolCalls.flatMap((call, index) => [
    choice({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }),
    ...pieces(call.arguments, chunks).map((piece) => choice({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  return [
    choice({ role: 'assistant', content: answer.toolCalls.length > 0 ? null : '', refusal: null }),
    ...pieces(answer.text, chunks).map((piece) => choice({ content: piece })),
    ...calls,
    choice({}, answer.finishReason),
  ];
}

function textChoices(answer: MockAnswer, chunks: number | null): JsonObject[] {
  const choice = (text: string, finish: string | null): JsonObject => ({ index: 0, text, logprobs: null, finish_reason: finish });
  return [...pieces(answer.text, chunks).map((piece) => choice(piece, null)), choice('', answer.finishReason)];
}

/** Splits the text into this many pieces of about equal length, or into one per word with the space that follows it. */
function pieces(text: string, count: number | null): string[] {
  if (count === null) return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);
  const characters = [...text];
  return Array.from({ length: count }, (_, index) =>
    characters
      .slice(Math.floor((index * characters.length) / count), Math.floor(((index + 1) * characters.length) / count))
      .join(''),
  );
}

function headOf(frame: ReplyFrame, object: string): JsonObject {
  return { id: frame.id, object, created: frame.createdSeconds, model: frame.model, system_fingerprint: 'mock' };
}
