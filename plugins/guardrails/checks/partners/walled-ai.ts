import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { definePartner, flag, secret } from './partner.ts';

const pii = ["Person's Name", 'Address', 'Email Id', 'Contact No', 'Date Of Birth', 'Unique Id', 'Financial Data'] as const;

/** https://docs.walled.ai: unsafe text fails, and text that breaks a listed compliance rule. */
export const walledAi = definePartner({
  id: 'walledai.walledprotect',
  sides: bothSides,
  parameters: {
    generic_safety_check: flag(true),
    greetings_list: v.optional(v.array(v.picklist(['Casual & Friendly', 'Professional & Polite'])), ['Casual & Friendly']),
    pii_list: v.optional(v.array(v.picklist(pii)), [...pii]),
    compliance_list: v.optional(v.array(v.string()), []),
  },
  credentials: { apiKey: secret },
  response: v.looseObject({
    data: v.looseObject({
      safety: v.array(v.looseObject({ isSafe: v.boolean() })),
      compliance: v.optional(v.array(v.looseObject({ isCompliant: v.optional(v.boolean()) })), []),
    }),
  }),
  toRequest: ({ text, parameters, credentials }) => ({
    url: 'https://services.walled.ai/v1/walled-protect',
    headers: ['x-api-key', credentials.apiKey],
    body: { text, ...parameters },
  }),
  toVerdict: ({ data }) => ({
    verdict: data.safety.every(({ isSafe }) => isSafe) && data.compliance.every(({ isCompliant }) => isCompliant !== false),
    data,
  }),
});
