import { openAiCompatible } from '../shared/openai-compatible.ts';
import { withDocuments } from './files.ts';
import { withContentAsText, withThinkingParts } from './thinking.ts';
import { withToolIds } from './tool-ids.ts';

/** OpenAI parameters that Mistral answers with 422 `extra_forbidden` (https://docs.mistral.ai/api, 2026-11-21). */
const refused = [
  'audio',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'modalities',
  'store',
  'top_logprobs',
  'user',
  'verbosity',
  'web_search_options',
];

/** Mistral. See README.md for where it differs from OpenAI. */
export const mistralAi = openAiCompatible({
  id: 'mistral-ai',
  baseUrl: 'https://api.mistral.ai/v1',
  operations: ['chatComplete', 'embed', 'ocr', 'moderate'],
  chat: {
    renames: { max_completion_tokens: 'max_tokens', seed: 'random_seed' },
    refuses: refused,
    developerAsSystem: true,
    streamUsage: 'always',
    ownFinishReasons: true,
    request: (params) => withToolIds(withDocuments(withThinkingParts(params))),
    reply: withContentAsText,
  },
  chatExtras: ['reasoning_content'],
});
