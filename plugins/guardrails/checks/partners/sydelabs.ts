import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { definePartner, secret, threshold } from './partner.ts';

/** SydeGuard of https://sydelabs.ai */
export const sydelabs = definePartner({
  id: 'sydelabs.sydeguard',
  sides: bothSides,
  parameters: { prompt_injection_threshold: threshold, toxicity_threshold: threshold, evasion_threshold: threshold },
  credentials: { apiKey: secret },
  response: v.looseObject({ category_scores: v.array(v.looseObject({ category: v.string(), score: v.number() })) }),
  toRequest: ({ text, credentials }) => ({
    url: 'https://guard.sydelabs.ai/api/v1/guard/generate-score',
    headers: ['x-api-key', credentials.apiKey],
    body: { prompt: text },
  }),
  toVerdict(response, { parameters }) {
    const limits: Readonly<Record<string, number>> = {
      PROMPT_INJECT: parameters.prompt_injection_threshold,
      TOXIC: parameters.toxicity_threshold,
      EVASION: parameters.evasion_threshold,
    };
    const isFine = response.category_scores.every(
      ({ category, score }) => score <= (limits[category] ?? Number.POSITIVE_INFINITY),
    );
    return { verdict: isFine, data: response };
  },
});
