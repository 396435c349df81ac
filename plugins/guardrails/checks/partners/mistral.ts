import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { bearer, definePartner, secret, text } from './partner.ts';

const categories = [
  ...['sexual', 'hate_and_discrimination', 'violence_and_threats', 'dangerous_and_criminal_content', 'selfharm'],
  ...['health', 'financial', 'law', 'pii'],
] as const;

/** https://docs.mistral.ai/capabilities/guardrailing */
export const mistral = definePartner({
  id: 'mistral.moderateContent',
  sides: bothSides,
  parameters: {
    categories: v.pipe(v.array(v.picklist(categories)), v.minLength(1)),
    model: v.optional(text, 'mistral-moderation-latest'),
  },
  credentials: { apiKey: secret },
  response: v.looseObject({
    results: v.pipe(v.array(v.looseObject({ categories: v.record(v.string(), v.boolean()) })), v.minLength(1)),
  }),
  toRequest: ({ texts, parameters, credentials }) => ({
    url: 'https://api.mistral.ai/v1/moderations',
    headers: bearer(credentials.apiKey),
    body: { model: parameters.model, input: texts },
  }),
  toVerdict({ results }, { parameters }) {
    const flagged = parameters.categories.filter((category) => results.some((result) => result.categories[category]));
    return { verdict: flagged.length === 0, data: { flagged_categories: flagged } };
  },
});
