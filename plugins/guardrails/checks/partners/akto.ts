import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { bearer, definePartner, domain, secret } from './partner.ts';

/** Akto guardrails: https://docs.akto.io */
export const akto = definePartner({
  id: 'akto.scan',
  sides: bothSides,
  parameters: {},
  credentials: { apiKey: secret, apiDomain: domain },
  response: v.looseObject({ Allowed: v.boolean(), Reason: v.optional(v.string(), '') }),
  toRequest: ({ text, subject, credentials }) => ({
    url: `https://${credentials.apiDomain}/api/validate/request`,
    headers: bearer(credentials.apiKey),
    body: { payload: JSON.stringify({ prompt: text, model: subject.model ?? 'unknown' }) },
  }),
  toVerdict: ({ Allowed, Reason }) => ({ verdict: Allowed, data: { allowed: Allowed, reason: Reason } }),
});
