import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { baseUrl, bearer, definePartner, flag, secret, text } from './partner.ts';

/** https://docs.aisecurity.f5.com */
export const f5 = definePartner({
  id: 'f5-guardrails.scan',
  sides: bothSides,
  parameters: { projectId: v.optional(text), redact: flag() },
  credentials: { apiKey: secret, calypsoUrl: v.optional(baseUrl, 'https://us1.calypsoai.app') },
  eachText: true,
  changes: ({ redact }) => redact,
  redacts: ({ redact }) => redact,
  response: v.looseObject({
    redactedInput: v.optional(v.nullable(v.string())),
    result: v.looseObject({ outcome: v.string() }),
  }),
  toRequest: ({ text: checked, parameters: { projectId }, credentials }) => ({
    url: `${credentials.calypsoUrl}/backend/v1/scans`,
    headers: bearer(credentials.apiKey),
    body: { input: checked, ...(projectId === undefined ? {} : { project: projectId }) },
  }),
  toVerdict({ result, redactedInput }, { parameters }) {
    const data = { outcome: result.outcome };
    if (result.outcome === 'cleared') return { verdict: true, data };
    const isRedacted = parameters.redact && result.outcome === 'redacted' && typeof redactedInput === 'string';
    return isRedacted ? { verdict: true, data, texts: [redactedInput] } : { verdict: false, data };
  },
});
