import type { Operation } from '../../contract/provider/provider.ts';
import { type CompatibleAdapter, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { mistralSpeech, mistralTranscription } from './audio.ts';
import { withParamTypes } from './chat-params.ts';
import { chatOrFillInTheMiddle, fillInTheMiddle } from './fill-in-the-middle.ts';
import { withMessageOrder } from './message-order.ts';
import { withMessageParts } from './message-parts.ts';
import { declaration } from './settings.ts';
import { mistralStored } from './stored-resources.ts';
import { contentAsText, withThinkingParts } from './thinking.ts';
import { withToolIds } from './tool-ids.ts';
import { withToolTypes } from './tool-types.ts';

/** OpenAI parameters for which Mistral returns 422 `extra_forbidden` (https://docs.mistral.ai/api, 2026-11-28). */
const refused = [
  'audio',
  'function_call',
  'functions',
  'logit_bias',
  'modalities',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
  'user',
  'verbosity',
  'web_search_options',
];

const id = 'mistral-ai';

const compatible = openAiCompatible({
  declaration,
  baseUrl: 'https://api.mistral.ai/v1',
  operations: ['chatComplete', 'embed', 'ocr', 'moderate'],
  chat: {
    renames: { max_completion_tokens: 'max_tokens', seed: 'random_seed' },
    refuses: refused,
    messageFields: { accepts: ['reasoning_content', 'prefix'], name: false },
    lacksAllowedTools: true,
    developerAsSystem: true,
    streamUsage: 'always',
    ownFinishReasons: true,
    request: (params, call) =>
      withToolIds(withMessageParts(withThinkingParts(withMessageOrder(withParamTypes(params, call), call)))),
    reply: (call) => {
      const asText = contentAsText(call);
      return (reply) => withToolTypes(asText(reply));
    },
  },
  embed: { renames: { dimensions: 'output_dimension' }, refuses: ['user'] },
  chatExtras: ['reasoning_content', 'file_urls'],
});

/** Mistral. See README.md for where it differs from OpenAI. */
export const mistralAi: CompatibleAdapter = {
  ...compatible,
  operations: {
    ...compatible.operations,
    ...mistralStored(compatible),
    chatComplete: chatOrFillInTheMiddle(id, compatible.operations.chatComplete as Operation),
    complete: fillInTheMiddle(id),
    createSpeech: mistralSpeech(id),
    createTranscription: mistralTranscription(id),
  },
};

export const adapters = [mistralAi];
