import type { Operation } from '../../contract/provider/provider.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { statedCount } from '../../contract/values/models/usage.ts';
import { unitUsage } from '../../formats/media/media-usage.ts';
import { decisions } from '../../formats/openai/decisions.ts';
import { type CompatibleAdapter, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { imageEdit, imageGenerate } from './images.ts';
import { declaration } from './settings.ts';

const compatible = openAiCompatible({
  declaration,
  baseUrl: 'https://openrouter.ai/api',
  pathPrefix: '/v1',
  operations: ['chatComplete', 'embed', 'createModelResponse', 'createSpeech', 'createTranscription', 'rerank'],
  chat: { streamUsage: 'always', ownFinishReasons: true },
  chatExtras: ['cache_control', 'top_k'],
});

const rerank = compatible.operations.rerank as Operation;

/** OpenRouter. See README.md for where it differs from OpenAI. */
export const openrouter: CompatibleAdapter = {
  ...compatible,
  choosesModel: (model) => /^openrouter\/|@preset\//.test(model),
  operations: {
    ...compatible.operations,
    imageGenerate,
    imageEdit,
    createDecision: decisions('openrouter', () => '/alpha/decisions'),
    rerank: {
      ...rerank,
      usage: (reply, call) => {
        const { usage } = reply;
        const units = isObject(usage) ? statedCount(usage.search_units) : Number.NaN;
        return isObject(usage) && !Number.isNaN(units) ? unitUsage('search_units', units, usage) : rerank.usage(reply, call);
      },
    },
  },
};

export const adapters = [openrouter];
