import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { baseUrl, bearer, definePartner, flag, secret } from './partner.ts';

/** https://aidr-docs.crowdstrike.com/docs/aidr */
export const crowdstrike = definePartner({
  id: 'crowdstrike-aidr.guardChatCompletions',
  sides: bothSides,
  parameters: { redact: flag() },
  credentials: { apiKey: secret, baseUrl },
  changes: ({ redact }) => redact,
  redacts: ({ redact }) => redact,
  response: v.looseObject({
    status: v.literal('Success'),
    result: v.looseObject({
      blocked: v.boolean(),
      transformed: v.optional(v.boolean(), false),
      policy: v.optional(v.nullable(v.string())),
      guard_output: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
    }),
  }),
  toRequest: ({ side, subject, credentials }) => ({
    url: `${credentials.baseUrl}/v1/guard_chat_completions`,
    headers: bearer(credentials.apiKey),
    body: {
      guard_input: subject.body,
      event_type: side,
      app_id: 'svc-gateway',
      ...(subject.metadata._user === undefined ? {} : { user_id: subject.metadata._user }),
      ...(subject.ctx.provider === null ? {} : { llm_provider: subject.ctx.provider }),
      ...(subject.model === null ? {} : { model: subject.model }),
    },
  }),
  toVerdict({ result }, { parameters }) {
    const { blocked, transformed, guard_output: changed } = result;
    const policy = result.policy ?? 'unknown';
    if (blocked) return { verdict: false, data: { explanation: `Blocked by the policy ${policy}` } };
    if (!transformed) return { verdict: true, data: { explanation: `Allowed by the policy ${policy}` } };
    // Text that the policy wants to change does not pass unchanged.
    if (!parameters.redact || !changed) return { verdict: false, data: { explanation: `The policy ${policy} requires changes` } };
    return { verdict: true, data: { explanation: `Changed by the policy ${policy}` }, body: changed };
  },
});
