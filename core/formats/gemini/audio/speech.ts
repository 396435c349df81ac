import type { Operation, OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { badParam } from '../../bad-param.ts';
import { spokenCharacters } from '../../media/media-usage.ts';
import { noteOnce } from '../../note-once.ts';
import { traitsOf } from '../models.ts';
import { inlineDataOf, mediaStreamReader, noContent } from '../reply-content.ts';
import { usageOfReply } from '../usage.ts';
import { type SpeechFormat, speechBytes, speechStream } from './speech-audio.ts';

/** The default voice, for callers without a voice that Gemini supports. */
const defaultVoice = 'Kore';

/** Voices of OpenAI. A call that falls back from OpenAI gets the default voice. */
const openAiVoices: ReadonlySet<string> = new Set([
  ...['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable', 'marin', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
]);

/**
 * Speech of Gemini's TTS models by generateContent (https://ai.google.dev/gemini-api/docs/speech-generation). Audio is base64 in
 * JSON: WAV since 3.8, plain samples before. `path` returns the path of the model, without the method.
 */
export function geminiSpeech(provider: string, path: (call: OperationCall) => string): Operation {
  return {
    path: (call) => `${path(call)}:${call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    toProvider: speechRequest,
    toBytes: (reply, call) => {
      const audio = inlineDataOf(reply, 'audio/');
      if (audio.length === 0) throw noContent(provider, reply, 'audio');
      return speechBytes(audio, formatOf(call.params));
    },
    translateStream: (call) => speechStream(formatOf(call.params)),
    usage: usageOfReply,
    usageOfCall: spokenCharacters,
    streamReader: () => mediaStreamReader(provider, 'audio/', 'audio'),
  };
}

function speechRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, input, voice, instructions, speed, response_format, stream_format: _stream, ...others } = params;
  const { generationConfig, ...passed } = others;
  if (typeof input !== 'string' || input === '') throw badParam('input', 'the text to be spoken is expected');
  if (speed !== undefined && speed !== null && speed !== 1) noteOnce(call.dropped, 'speed');
  const format = formatOf(params);
  if ((response_format ?? 'mp3') !== format) noteOnce(call.adapted, `response_format:${response_format ?? 'mp3'}->${format}`);
  return {
    contents: [{ role: 'user', parts: [spokenPart(input, instructions, call)] }],
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voiceName(voice, call) } } },
      ...(isObject(generationConfig) ? generationConfig : {}),
    },
    ...passed,
  };
}

/** Models from 3.8 have a field for speaking instructions. For older models they come before the text, as in Google's examples. */
function spokenPart(input: string, instructions: unknown, call: OperationCall): JsonObject {
  if (typeof instructions !== 'string' || instructions === '') return { text: input };
  if (traitsOf(call.model).speechStyle) return { text: input, speechMetadata: { style: instructions } };
  noteOnce(call.adapted, 'instructions->input');
  return { text: `${instructions}: ${input}` };
}

function voiceName(voice: unknown, call: OperationCall): string {
  const name = isObject(voice) ? voice.id : voice;
  if (name === undefined || name === null || name === '') return defaultVoice;
  if (typeof name !== 'string') throw badParam('voice', 'the name of a voice is expected');
  if (!openAiVoices.has(name)) return name;
  noteOnce(call.adapted, `voice:${name}->${defaultVoice}`);
  return defaultVoice;
}

/** Returns samples or WAV, because the gateway cannot compress audio. */
function formatOf(params: JsonObject): SpeechFormat {
  return params.response_format === 'pcm' ? 'pcm' : 'wav';
}
