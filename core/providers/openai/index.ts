import type { ProviderSettings } from '../../contract/provider/provider.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { completesByChat } from '../../formats/openai/chat-only.ts';
import { unknownToOpenAi, withoutRefusedFields } from '../../formats/openai/message-fields.ts';
import { openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { withNewerLimit } from '../../formats/openai/output-limit.ts';
import { goesByResponsesApi } from '../../formats/openai/responses-only.ts';
import { allBatches, allFiles, allFinetunes } from '../../formats/stored/stored-files.ts';
import { federation } from './federation.ts';
import { declaration } from './settings.ts';

/** OpenAI, and with `custom_host` any server with its API. The chat route already has this provider's format. */
export const openai = openAiCompatible({
  declaration,
  baseUrl: 'https://api.openai.com/v1',
  operations: [
    'chatComplete',
    'complete',
    'embed',
    'createModelResponse',
    'createSpeech',
    'createTranscription',
    'createTranslation',
    'imageGenerate',
    'imageEdit',
    'imageVariation',
    'moderate',
    'createDecision',
  ],
  headers: accountHeaders,
  stored: { files: allFiles, batches: allBatches, finetunes: allFinetunes },
  // Servers behind `custom_host` may accept these fields, as vLLM does with `reasoning_content`, and may have `max_tokens` only.
  chat: {
    request: (params, call) =>
      call.settings.custom_host ? params : withNewerLimit(withoutRefusedFields(params, unknownToOpenAi, call), call),
  },
  customTools: true,
  byResponses: goesByResponsesApi,
  completesByChat,
  forwards: ['openai-beta'],
  realtime: true,
});

/** Which organisation and project are billed (https://platform.openai.com/docs/api-reference/authentication). */
function accountHeaders(settings: ProviderSettings): HeaderList {
  const headers: HeaderList = [];
  for (const name of ['organization', 'project', 'beta']) {
    const value = settings[`openai_${name}`];
    if (typeof value === 'string' && value !== '') headers.push(`openai-${name}`, value);
  }
  return headers;
}

export const adapters = [{ ...openai, federation }];
