import { isObject, type JsonObject, textOrNull } from '../../../core/contract/values/json/json.ts';

/** The content of a message for checks: texts, nothing, or something that they cannot read. */
export type MessageContent = { readonly texts: readonly string[] } | 'nothing' | 'unreadable';

/** Client events without content. */
const withoutContent: ReadonlySet<unknown> = new Set([
  ...['input_audio_buffer.commit', 'input_audio_buffer.clear', 'output_audio_buffer.clear', 'response.cancel'],
  ...['conversation.item.retrieve', 'conversation.item.truncate', 'conversation.item.delete'],
]);

/**
 * Returns the content of an event of the client, in the format of OpenAI's realtime API. Texts of an event of an unknown type are all its
 * strings. Audio and images are unreadable.
 */
export function contentOfClient(event: JsonObject): MessageContent {
  const { type, item, session, response } = event;
  if (withoutContent.has(type)) return 'nothing';
  if (type === 'input_audio_buffer.append') return 'unreadable';
  if (type === 'conversation.item.create') return contentOfItems([item]);
  if (type === 'session.update' || type === 'transcription_session.update') return contentOf([settingsTexts(session)]);
  if (type !== 'response.create') return contentOf([stringsOf(event)]);
  const input = isObject(response) && Array.isArray(response.input) ? contentOfItems(response.input) : 'nothing';
  if (input === 'unreadable') return input;
  return contentOf([settingsTexts(response), input === 'nothing' ? [] : input.texts]);
}

/** Returns the transcript of the user's speech, if the event holds one. */
export function transcriptOf({ type, transcript }: JsonObject): string | null {
  const isTranscript = type === 'conversation.item.input_audio_transcription.completed';
  return isTranscript ? textOrNull(transcript) : null;
}

/** Returns the content of the response that a `response.done` event ends. Audio without a transcript is unreadable. */
export function contentOfResponse({ response }: JsonObject): MessageContent {
  return contentOfItems(isObject(response) && Array.isArray(response.output) ? response.output : []);
}

/** Returns the content of items: of messages, and of calls of tools. */
export function contentOfItems(items: readonly unknown[]): MessageContent {
  const all: string[] = [];
  for (const item of items) {
    if (!isObject(item)) continue;
    for (const text of [item.output, item.arguments]) if (typeof text === 'string') all.push(text);
    for (const part of Array.isArray(item.content) ? item.content : []) {
      if (!isObject(part)) continue;
      const text = part.text ?? part.transcript;
      if (typeof text === 'string') all.push(text);
      else return 'unreadable';
    }
  }
  return contentOf([all]);
}

function settingsTexts(settings: unknown): string[] {
  if (!isObject(settings)) return [];
  const { instructions, prompt, tools } = settings;
  return [instructions, prompt, tools].flatMap((value) => stringsOf(value));
}

function contentOf(lists: readonly (readonly string[])[]): MessageContent {
  const texts = lists.flat().filter((text) => text !== '');
  return texts.length === 0 ? 'nothing' : { texts };
}

const depthMax = 32;

function stringsOf(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return [value];
  if (depth > depthMax || typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((each) => stringsOf(each, depth + 1));
}
