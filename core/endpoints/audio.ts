import type { Route } from './route.ts';

/** Text to speech: JSON in, audio out, or events with `stream_format: "sse"`. */
export const speech: Route = { method: 'POST', path: '/audio/speech', operation: 'createSpeech', format: 'chat' };

/** Speech to text: a form with the audio in, JSON, text, subtitles or events out. */
export const transcriptions: Route = {
  method: 'POST',
  path: '/audio/transcriptions',
  operation: 'createTranscription',
  format: 'chat',
  body: 'form',
};

/** Speech to English text. */
export const translations: Route = {
  method: 'POST',
  path: '/audio/translations',
  operation: 'createTranslation',
  format: 'chat',
  body: 'form',
};
