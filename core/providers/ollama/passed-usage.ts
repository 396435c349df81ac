import { hasCount, type PassedFormat } from '../../contract/provider/passed-usage.ts';
import { emptyUsage } from '../../contract/values/models/usage.ts';
import { tokenCount } from '../../formats/openai/chat-usage.ts';

/** https://github.com/ollama/ollama/blob/main/docs/api.md */
export const ollamaPassed: PassedFormat = {
  locations: { prompt_eval_count: true, eval_count: true },
  bare: ['prompt_eval_count', 'eval_count'],
  read(counts) {
    if (!hasCount(counts, 'prompt_eval_count', 'eval_count')) return null;
    const inputTokens = tokenCount(counts.prompt_eval_count);
    return { ...emptyUsage(), inputTokens, outputTokens: tokenCount(counts.eval_count), raw: counts };
  },
};
