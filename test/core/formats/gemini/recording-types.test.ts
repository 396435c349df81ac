import { expect, it } from 'vitest';
import { audioPart, recordingTypeOf } from '../../../../core/formats/gemini/media.ts';

it.each([
  ['video/webm', 'speech.webm', 'audio/webm'],
  [null, 'speech.webm', 'audio/webm'],
  ['audio/webm;codecs=opus', 'blob', 'audio/webm'],
  ['audio/ogg; codecs=opus', 'speech.ogg', 'audio/ogg'],
  ['video/webm; codecs=vp9,opus', 'meeting.webm', 'video/webm'],
  ['video/mp4', 'meeting.mp4', 'video/mp4'],
  ['audio/L16;rate=16000', 'speech.pcm', 'audio/L16;rate=16000'],
  ['application/octet-stream', 'speech.MPGA', 'audio/mpeg'],
  ['application/octet-stream', 'speech.opus', 'audio/ogg'],
  ['application/octet-stream', 'speech', 'audio/wav'],
])('transcriptions by Gemini: a file of type %s named %s is sent as %s', (stated, name, sent) => {
  expect(recordingTypeOf(stated, name)).toBe(sent);
});

it.each([
  ['webm', 'audio/webm'],
  ['mp4', 'audio/mp4'],
  ['mp3', 'audio/mp3'],
  [undefined, 'audio/wav'],
  ['constructor', 'audio/constructor'],
  ['__proto__', 'audio/__proto__'],
])('chat with Gemini: input_audio of format %s is sent as %s', (format, mimeType) => {
  const part = { type: 'input_audio', input_audio: { data: 'AAAA', format } };
  expect(audioPart(part, 'messages[0].content[0]')).toEqual({ inlineData: { mimeType, data: 'AAAA' } });
});
