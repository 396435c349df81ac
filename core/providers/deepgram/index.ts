import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { declared } from '../../provider-settings/declaration.ts';
import { errorOf } from './errors.ts';
import { modelList } from './model-list.ts';
import { declaration } from './settings.ts';
import { createSpeech } from './speech.ts';
import { createTranscription } from './transcriptions.ts';

/** Deepgram: speech and transcripts. See README.md. */
export const deepgram: ProviderAdapter = {
  ...declared(declaration),
  baseUrl: () => 'https://api.deepgram.com/v1',
  headers: (_settings, { api_key: key }) => (key === undefined ? [] : ['authorization', `Token ${key.reveal()}`]),
  models: modelList,
  operations: { createSpeech, createTranscription },
  error: errorOf,
};

export const adapters = [deepgram];
