import type { Operation, OperationCall } from '../../contract/provider/provider.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { spokenCharacters } from '../../formats/media/media-usage.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';
import { isPlain, pathWithQuery } from './query.ts';

/** Text to speech (https://developers.deepgram.com/reference/text-to-speech/speak-request): the text is in the body, all other parameters in the query. */
export const createSpeech: Operation = {
  path: ({ params }) => pathWithQuery('/speak', queryOf(params)),
  toProvider: speechRequest,
  passesBytes: true,
  usage: () => null,
  usageOfCall: spokenCharacters,
  // The replies are never streamed as events, but the contract requires a reader.
  streamReader: () => typedEventsReader('deepgram', []),
};

/** OpenAI's formats in the provider's terms (https://developers.deepgram.com/docs/tts-media-output-settings). */
const formats: Readonly<Record<string, JsonObject>> = {
  mp3: { encoding: 'mp3' },
  opus: { encoding: 'opus', container: 'ogg' },
  aac: { encoding: 'aac' },
  flac: { encoding: 'flac' },
  wav: { encoding: 'linear16', container: 'wav' },
  pcm: { encoding: 'linear16', container: 'none', sample_rate: 24_000 },
};

function speechRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { input, model, voice, response_format: format, ...rest } = params;
  if (typeof input !== 'string') throw badParam('input', 'a text is expected');
  if (format !== undefined && !Object.hasOwn(formats, String(format))) {
    throw badParam('response_format', `one of ${Object.keys(formats).join(', ')} is expected`);
  }
  if (voice !== undefined && namesVoice(model) && voice !== model) call.dropped.push('voice');
  for (const name of ['instructions', 'stream_format']) if (rest[name] !== undefined) call.dropped.push(name);
  const others = Object.entries(rest).filter(([name, value]) => !unspoken.has(name) && !isPlain(value));
  return { text: input, ...Object.fromEntries(others) };
}

const unspoken: ReadonlySet<string> = new Set(['instructions', 'stream_format']);

function queryOf({ input: _input, model, voice, response_format: format, ...rest }: JsonObject): JsonObject {
  const plain = Object.entries(rest).filter(([name]) => !unspoken.has(name));
  return { model: modelOf(model, voice), ...formats[String(format ?? 'mp3')], ...Object.fromEntries(plain) };
}

/** The provider's name combines `aura-2` and a voice: `aura-2-thalia-en`. A voice may also be that whole name. */
function modelOf(model: unknown, voice: unknown): string {
  if (namesVoice(voice)) return voice;
  if (namesVoice(model) || typeof voice !== 'string' || voice === '') return String(model);
  return `${String(model)}-${voice}-en`;
}

function namesVoice(name: unknown): name is string {
  return typeof name === 'string' && /^aura\b.*-[a-z]{2}$/.test(name);
}
