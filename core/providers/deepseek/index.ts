import { openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { deepseekRequest } from './chat-request.ts';
import { declaration } from './settings.ts';

/** DeepSeek. See README.md for where it differs from OpenAI. */
export const deepseek = openAiCompatible({
  declaration,
  baseUrl: 'https://api.deepseek.com',
  operations: ['chatComplete'],
  chat: {
    renames: { max_completion_tokens: 'max_tokens' },
    developerAsSystem: true,
    ownFinishReasons: true,
    request: deepseekRequest,
  },
  chatExtras: ['reasoning_content', 'thinking'],
});

export const adapters = [deepseek];
