import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { baseUrl, bearer, definePartner, secret, text } from './partner.ts';

const redactedChat = v.optional(
  v.nullable(
    v.looseObject({
      redacted_new_message: v.optional(v.nullable(v.looseObject({ content: v.optional(v.nullable(v.string())) }))),
    }),
  ),
);

/** Cato Networks AI security: the policy there decides whether text is monitored, made anonymous or blocked. */
export const cato = definePartner({
  id: 'cato.analyze',
  sides: bothSides,
  parameters: { userEmail: v.optional(text), keyAlias: v.optional(text) },
  credentials: { apiKey: secret, apiBase: v.optional(baseUrl, 'https://api.aisec.catonetworks.com') },
  eachText: true,
  changes: () => true,
  response: v.pipe(
    v.looseObject({
      required_action: v.optional(
        v.nullable(
          v.looseObject({
            action_type: v.optional(v.nullable(v.picklist(['anonymize_action', 'block_action', 'monitor_action']))),
            detection_message: v.optional(v.nullable(v.string())),
            chat_redaction_result: redactedChat,
          }),
        ),
      ),
      redacted_chat: redactedChat,
    }),
    v.check((reply) => 'analysis_result' in reply || 'required_action' in reply, 'expected an analysis'),
  ),
  toRequest: ({ side, text: checked, subject, parameters: { userEmail, keyAlias }, credentials: { apiKey, apiBase } }) => ({
    url: `${apiBase}/fw/v1/analyze`,
    headers: [
      ...bearer(apiKey),
      ...['x-cato-call-id', subject.ctx.traceId],
      ...(userEmail === undefined ? [] : ['x-cato-user-email', userEmail]),
      ...(keyAlias === undefined ? [] : ['x-cato-gateway-key-alias', keyAlias]),
    ],
    body: { messages: [{ role: side === 'input' ? 'user' : 'assistant', content: [{ type: 'text', text: checked }] }] },
  }),
  toVerdict({ required_action: action, redacted_chat }) {
    const type = action?.action_type ?? 'monitor_action';
    const data = { action: type, message: action?.detection_message ?? null };
    if (type === 'monitor_action') return { verdict: true, data };
    const changed = (action?.chat_redaction_result ?? redacted_chat)?.redacted_new_message?.content;
    return type === 'anonymize_action' && typeof changed === 'string'
      ? { verdict: true, data, texts: [changed] }
      : { verdict: false, data };
  },
});
