import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { definePartner, domain, secret } from './partner.ts';

const assessment = v.record(v.string(), v.looseObject({ request_reject: v.optional(v.boolean(), false) }));

/** https://docs.getjavelin.com */
export const javelin = definePartner({
  id: 'javelin.guardrails',
  sides: bothSides,
  parameters: {},
  credentials: { apiKey: secret, domain: v.optional(domain, 'api-dev.javelin.live'), application: secret },
  response: v.looseObject({ assessments: v.pipe(v.array(assessment), v.minLength(1)) }),
  toRequest: ({ text, credentials }) => ({
    url: `https://${credentials.domain}/v1/guardrails/apply`,
    headers: ['x-javelin-apikey', credentials.apiKey, 'x-javelin-application', credentials.application],
    body: { input: { text }, config: {}, metadata: {} },
  }),
  toVerdict({ assessments }) {
    const rejected = assessments.flatMap((one) => Object.keys(one).filter((name) => one[name]?.request_reject));
    return { verdict: rejected.length === 0, data: { flagged_assessments: rejected } };
  },
});
