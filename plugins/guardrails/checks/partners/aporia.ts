import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { baseUrl, definePartner, requestMessages, secret, text } from './partner.ts';

/** https://gr-docs.aporia.com */
export const aporia = definePartner({
  id: 'aporia.validateProject',
  sides: bothSides,
  parameters: { projectID: v.pipe(text, v.regex(/^[\w-]+$/, 'expected letters, digits, hyphens and underscores')) },
  credentials: { apiKey: secret, apiEndpoint: v.optional(baseUrl, 'https://gr-prd.aporia.com') },
  response: v.looseObject({ action: v.string() }),
  toRequest: (asked) => ({
    url: `${asked.credentials.apiEndpoint}/${asked.parameters.projectID}/validate`,
    headers: ['x-aporia-api-key', asked.credentials.apiKey],
    body: {
      messages: requestMessages(asked.subject),
      ...(asked.side === 'output' ? { response: asked.text } : {}),
      validation_target: asked.side === 'input' ? 'prompt' : 'response',
      explain: true,
    },
  }),
  toVerdict: (response) => ({ verdict: response.action === 'passthrough', data: response }),
});
