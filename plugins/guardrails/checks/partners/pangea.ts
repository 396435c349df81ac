import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { bearer, definePartner, domain, flag, secret, text } from './partner.ts';

const credentials = { apiKey: secret, domain };
const detected = v.optional(v.nullable(v.looseObject({ detected: v.optional(v.boolean()) })));

/** https://pangea.cloud/docs/api/ai-guard: every detector that reports something fails the check. */
export const pangeaTextGuard = definePartner({
  id: 'pangea.textGuard',
  sides: bothSides,
  parameters: {
    recipe: v.optional(text),
    debug: v.optional(v.boolean()),
    overrides: v.optional(v.record(v.string(), v.unknown())),
  },
  credentials,
  response: v.looseObject({
    status: v.literal('Success'),
    result: v.looseObject({ blocked: v.optional(v.boolean()), detectors: v.record(v.string(), detected) }),
  }),
  toRequest: ({ text: checked, parameters, credentials: { apiKey, domain: host } }) => ({
    url: `https://ai-guard.${host}/v1/text/guard`,
    headers: bearer(apiKey),
    body: { text: checked, ...parameters },
  }),
  toVerdict: ({ result }) => ({
    verdict: result.blocked !== true && Object.values(result.detectors).every((detector) => detector?.detected !== true),
    data: result,
  }),
});

/** https://pangea.cloud/docs/api/redact */
export const pangeaPii = definePartner({
  id: 'pangea.pii',
  sides: bothSides,
  parameters: { redact: flag() },
  credentials,
  changes: ({ redact }) => redact,
  redacts: ({ redact }) => redact,
  response: v.looseObject({
    status: v.literal('Success'),
    summary: v.optional(v.string()),
    result: v.looseObject({ count: v.number(), redacted_data: v.optional(v.nullable(v.array(v.string()))) }),
  }),
  toRequest: ({ texts, credentials: { apiKey, domain: host } }) => ({
    url: `https://redact.${host}/v1/redact_structured`,
    headers: bearer(apiKey),
    body: { data: texts },
  }),
  toVerdict({ summary, result: { count, redacted_data: redacted } }, { parameters, texts }) {
    const data = { summary: summary ?? null, count };
    if (count === 0) return { verdict: true, data };
    const isRedacted = parameters.redact && redacted?.length === texts.length;
    return isRedacted ? { verdict: true, data, texts: redacted as string[] } : { verdict: false, data };
  },
});
