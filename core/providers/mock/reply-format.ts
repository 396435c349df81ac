import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { eventText } from '../../contract/values/text/event-text.ts';
import type { MockContent } from './chat-reply.ts';

/** The kind of reply object, chat or text completion, and its call. */
export interface ReplyFrame {
  readonly kind: 'chat' | 'text';
  readonly id: string;
  readonly model: string;
  readonly createdSeconds: number;
}

/** Returns the plain reply. */
export function plainReply(frame: ReplyFrame, reply: MockContent): JsonObject {
  const choice =
    frame.kind === 'chat'
      ? { index: 0, message: chatMessage(reply), logprobs: null, finish_reason: reply.finishReason }
      : { index: 0, text: reply.text, logprobs: null, finish_reason: reply.finishReason };
  const object = frame.kind === 'chat' ? 'chat.completion' : 'text_completion';
  return { ...headOf(frame, object), choices: [choice], ...(reply.usage ? { usage: reply.usage } : {}) };
}

/** Returns the events of the streamed reply, `[DONE]` included, as text. */
export function streamedReply(frame: ReplyFrame, reply: MockContent, chunks: number | null, body: JsonObject): string[] {
  const asked = isObject(body.stream_options) && body.stream_options.include_usage === true && reply.usage !== null;
  const object = frame.kind === 'chat' ? 'chat.completion.chunk' : 'text_completion';
  const head = { ...headOf(frame, object), ...(asked ? { usage: null } : {}) };
  const max = eventsMax(frame.model, Math.max(1, reply.toolCalls.length));
  const choices = frame.kind === 'chat' ? chatChoices(reply, chunks, max) : textChoices(reply, chunks, max);
  const events: JsonObject[] = choices.map((choice) => ({ ...head, choices: [choice] }));
  if (asked) events.push({ ...head, choices: [], usage: reply.usage });
  return [...events, '[DONE]'].map((event) => eventText(event));
}

function chatMessage(reply: MockContent): JsonObject {
  if (reply.toolCalls.length === 0) return { role: 'assistant', content: reply.text, refusal: null };
  const calls = reply.toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  return { role: 'assistant', content: null, refusal: null, tool_calls: calls };
}

function chatChoices(reply: MockContent, chunks: number | null, max: number): JsonObject[] {
  const choice = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finish,
  });
  const calls = reply.toolCalls.flatMap((call, index) => [
    choice({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] }),
    ...pieces(call.arguments, chunks, max).map((piece) => choice({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]);
  return [
    choice({ role: 'assistant', content: reply.toolCalls.length > 0 ? null : '', refusal: null }),
    ...pieces(reply.text, chunks, max).map((piece) => choice({ content: piece })),
    ...calls,
    choice({}, reply.finishReason),
  ];
}

function textChoices(reply: MockContent, chunks: number | null, max: number): JsonObject[] {
  const choice = (text: string, finish: string | null): JsonObject => ({ index: 0, text, logprobs: null, finish_reason: finish });
  return [...pieces(reply.text, chunks, max).map((piece) => choice(piece, null)), choice('', reply.finishReason)];
}

/** Maximum number of events with a word each. They are built at once: 500,000 would take two seconds and 100 MB. */
const wordsMax = 5_000;
/** Maximum characters of the parts that each event of a stream repeats, roughly. */
const repeatedMax = 20_000_000;

/** Returns the maximum number of events for each of these texts. Each event has the name of the model. */
function eventsMax(model: string, texts: number): number {
  return Math.max(1, Math.floor(Math.min(100_000, repeatedMax / (200 + model.length)) / texts));
}

/** Splits the text into this many pieces of about equal length, or into one per word with the space that follows it. */
function pieces(text: string, count: number | null, max: number): string[] {
  if (count === null) {
    const most = Math.min(wordsMax, max);
    return wordsOf(text, most) ?? pieces(text, most, max);
  }
  const length = Math.min(count, max);
  // A character outside the Basic Multilingual Plane is not divided.
  const characters = /[\ud800-\udfff]/.test(text) ? [...text] : text;
  const at = (index: number): number => Math.floor((index * characters.length) / length);
  return Array.from({ length }, (_, index) => {
    const piece = characters.slice(at(index), at(index + 1));
    return typeof piece === 'string' ? piece : piece.join('');
  });
}

/** Returns the words with the space that follows them; null for more than `max` words. */
function wordsOf(text: string, max: number): string[] | null {
  const words: string[] = [];
  for (const [word] of text.matchAll(/^\s*\S+\s*|\S+\s*/g)) {
    if (words.length === max) return null;
    words.push(word);
  }
  return words.length > 0 || text === '' ? words : [text];
}

function headOf(frame: ReplyFrame, object: string): JsonObject {
  return { id: frame.id, object, created: frame.createdSeconds, model: frame.model, system_fingerprint: 'mock' };
}
