import { openAiCompatible } from '../shared/openai-compatible.ts';

/** Where calls to this provider go; `mockTransport` answers them inside the process. */
export const mockOrigin = 'mock://local';

/** The built-in provider for trying things out: no network, no account; the model name says what it does (see README.md). */
export const mock = openAiCompatible({
  id: 'mock',
  baseUrl: mockOrigin,
  pathPrefix: '/v1',
  operations: [
    'chatComplete',
    'complete',
    'embed',
    'createSpeech',
    'createTranscription',
    'createTranslation',
    'imageGenerate',
    'moderate',
    'rerank',
  ],
});
