import { isObject, type JsonObject, textOrNull } from '../../../core/contract/values/json/json.ts';
import { depthMax } from '../depth.ts';
import { everyText, isWord, type TextPart } from '../every-text.ts';
import { isSetting } from '../texts.ts';

/** The content of a message for checks: texts, nothing, or something that they cannot read. */
export type MessageContent = { readonly texts: readonly string[] } | 'nothing' | 'unreadable';

/**
 * Returns the content of an event of the client, in the format of OpenAI's realtime API: all its texts except ids and settings. Audio and images are
 * unreadable, also beside a text, which need not be that of the audio.
 */
export function contentOfClient(event: JsonObject): MessageContent {
  return hasMedia(event, true) ? 'unreadable' : contentOf(textsOf(event));
}

/** Returns the content of an event of the provider. Audio without a transcript is unreadable. */
export function contentOfProvider(event: JsonObject): MessageContent {
  return hasMedia(event, false) ? 'unreadable' : contentOf(textsOf(event));
}

/** Returns the transcript of the user's speech, if the event holds one. */
export function transcriptOf({ type, transcript }: JsonObject): string | null {
  const isTranscript = type === 'conversation.item.input_audio_transcription.completed';
  return isTranscript ? textOrNull(transcript) : null;
}

/** Fields of events and of their sessions and responses whose texts are words of the format. */
const words: ReadonlySet<unknown> = new Set([
  ...['modalities', 'output_modalities', 'input_audio_format', 'output_audio_format', 'eagerness', 'include', 'reason', 'phase'],
  // A number, or `inf`.
  ...['max_output_tokens', 'max_response_output_tokens'],
]);
const identifiers = /(?:^|_)ids?$/;

function textsOf(event: JsonObject): string[] {
  const parts: TextPart[] = [];
  everyText(event, [], parts);
  return parts.filter(isContent).map(({ text }) => text);
}

/** False for ids of an event and for words of its format. Schemas and items of a conversation have no such fields. */
function isContent({ path, text }: TextPart): boolean {
  if (!isWord(text)) return true;
  const [first, second] = path;
  const name = path.findLast((key) => typeof key === 'string') as string;
  if (path.length === 1 || first === 'item') return name !== 'phase' && !identifiers.test(name);
  if (first !== 'session' && first !== 'response') return true;
  return second === 'tools' || !(words.has(name) || isSetting(name, text) || identifiers.test(name));
}

/** Members that hold audio, an image or a file. */
const mediaMembers = ['audio', 'image_url', 'image', 'video', 'file_id', 'file_data'] as const;

/**
 * True for a value with audio, images or files at any depth. `isFromClient`: a text beside them does not tell what is in them. In events of the
 * provider the transcript does. Also true for a value that is nested too deeply to be read.
 */
function hasMedia(value: unknown, isFromClient: boolean, depth = 0): boolean {
  if (depth > depthMax) return true;
  if (Array.isArray(value)) return value.some((item) => hasMedia(item, isFromClient, depth + 1));
  if (!isObject(value)) return false;
  const isMedia = typeof value.type === 'string' && /(?:^|_)(?:audio|image|video|file)$/.test(value.type);
  const isTold = typeof value.text === 'string' || typeof value.transcript === 'string';
  if (isMedia && !isTold) return true;
  if (isFromClient && mediaMembers.some((name) => typeof value[name] === 'string' && value[name] !== '')) return true;
  return Object.values(value).some((member) => hasMedia(member, isFromClient, depth + 1));
}

function contentOf(all: readonly string[]): MessageContent {
  const texts = all.filter((text) => text !== '');
  return texts.length === 0 ? 'nothing' : { texts };
}
