import { openAiCompatible } from 'svc-gateway/provider-adapter';
import { declaration } from './settings.mjs';

/** Acme ai: the API of OpenAI with a header that names the project. */
export const adapters = [
  openAiCompatible({
    declaration,
    baseUrl: 'https://api.acme-ai.example/v1',
    operations: ['chatComplete'],
    headers: ({ acme_ai_project: project }) => (typeof project === 'string' ? ['x-project', project] : []),
    chat: { ownFinishReasons: true },
  }),
];
