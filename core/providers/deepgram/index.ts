import * as v from 'valibot';
import type { ProviderAdapter, ProviderSettings } from '../../contract/provider/provider.ts';
import { faultOf } from './errors.ts';
import { modelList } from './model-list.ts';
import { createSpeech } from './speech.ts';
import { createTranscription } from './transcriptions.ts';

const settings: v.GenericSchema<unknown, ProviderSettings> = v.object({ custom_host: v.nullish(v.string()) });

/** Deepgram: speech and transcripts. See README.md. */
export const deepgram: ProviderAdapter = {
  id: 'deepgram',
  settings,
  baseUrl: () => 'https://api.deepgram.com/v1',
  headers: (_settings, { api_key: key }) => (key === undefined ? [] : ['authorization', `Token ${key.reveal()}`]),
  models: modelList,
  operations: { createSpeech, createTranscription },
  error: faultOf,
};
