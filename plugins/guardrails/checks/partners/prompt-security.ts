import * as v from 'valibot';
import type { Check, Side } from '../check.ts';
import { definePartner, domain, flag, secret, text } from './partner.ts';

const part = v.optional(
  v.nullable(
    v.looseObject({
      passed: v.boolean(),
      modified_text: v.optional(v.nullable(v.string())),
      violations: v.optional(v.unknown()),
    }),
  ),
);

/** https://docs.prompt.security */
const protect = (id: string, side: Side, key: 'prompt' | 'response'): Check =>
  definePartner({
    id,
    sides: [side],
    parameters: { redact: flag(), monitorOnly: flag(), user: v.optional(text) },
    credentials: { apiDomain: domain, apiKey: secret },
    eachText: true,
    changes: ({ redact }) => redact,
    redacts: ({ redact }) => redact,
    response: v.looseObject({ result: v.looseObject({ prompt: part, response: part }) }),
    toRequest: ({ text: checked, parameters: { user }, credentials }) => ({
      url: `https://${credentials.apiDomain}/api/protect`,
      headers: ['app-id', credentials.apiKey],
      body: { [key]: checked, ...(user === undefined ? {} : { user }) },
    }),
    toVerdict({ result }, { parameters: { redact, monitorOnly } }) {
      const judged = result[key];
      // A reply that does not cover the sent text is no verdict.
      if (!judged) throw new Error('no verdict');
      const { passed, modified_text: modified, violations } = judged;
      const data = { passed, violations: violations ?? null };
      if (redact && typeof modified === 'string') return { verdict: true, data, texts: [modified] };
      return { verdict: passed || monitorOnly, data };
    },
  });

export const promptSecurity: readonly Check[] = [
  protect('promptsecurity.protectPrompt', 'input', 'prompt'),
  protect('promptsecurity.protectResponse', 'output', 'response'),
];
