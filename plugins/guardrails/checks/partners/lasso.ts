import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { baseUrl, conversationOf, definePartner, secret, text } from './partner.ts';

/** https://docs.lasso.security */
export const lasso = definePartner({
  id: 'lasso.classify',
  sides: bothSides,
  parameters: { conversationId: v.optional(text), userId: v.optional(text), messages: v.optional(v.array(v.unknown())) },
  credentials: { apiKey: secret, apiEndpoint: v.optional(baseUrl, 'https://server.lasso.security') },
  response: v.looseObject({ violations_detected: v.boolean() }),
  toRequest: (asked) => {
    const { conversationId, userId } = asked.parameters;
    return {
      url: `${asked.credentials.apiEndpoint}/gateway/v2/classify`,
      headers: [
        ...['lasso-api-key', asked.credentials.apiKey],
        ...(conversationId === undefined ? [] : ['lasso-conversation-id', conversationId]),
        ...(userId === undefined ? [] : ['lasso-user-id', userId]),
      ],
      body: { messages: conversationOf(asked) },
    };
  },
  toVerdict: (response) => ({ verdict: !response.violations_detected, data: response }),
});
