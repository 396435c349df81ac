import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { baseUrl, bearer, definePartner, flag, maskRanges, secret, text } from './partner.ts';

const item = v.looseObject({ start: v.number(), end: v.number(), detector_type: v.string() });
const judged = v.looseObject({ detector_type: v.string(), detected: v.boolean() });

/** https://docs.lakera.ai/docs/api/guard: text in which only personal data was found is masked, everything else fails. */
export const lakera = definePartner({
  id: 'lakera.guard',
  sides: bothSides,
  parameters: { projectID: v.optional(text), endInclusive: flag() },
  credentials: { apiKey: secret, apiBase: v.optional(baseUrl, 'https://api.lakera.ai') },
  eachText: true,
  changes: () => true,
  response: v.looseObject({
    flagged: v.boolean(),
    payload: v.optional(v.array(item), []),
    breakdown: v.optional(v.array(judged), []),
  }),
  toRequest: ({ side, text: checked, parameters: { projectID }, credentials: { apiKey, apiBase } }) => ({
    url: `${apiBase}/v2/guard`,
    headers: bearer(apiKey),
    body: {
      messages: [{ role: side === 'input' ? 'user' : 'assistant', content: checked }],
      payload: true,
      breakdown: true,
      ...(projectID === undefined ? {} : { project_id: projectID }),
    },
  }),
  toVerdict({ flagged, payload, breakdown }, { parameters: { endInclusive }, text: checked }) {
    const detected = breakdown.filter((one) => one.detected).map(({ detector_type }) => detector_type);
    const data = { flagged, detectedTypes: detected };
    if (!flagged) return { verdict: true, data };
    const isOnlyPii = detected.length > 0 && detected.every((type) => type.startsWith('pii'));
    if (!isOnlyPii || payload.length === 0) return { verdict: false, data };
    const ranges = payload.map(({ start, end, detector_type }) => ({
      start,
      end: endInclusive ? end + 1 : end,
      by: `[${detector_type.toUpperCase()}]`,
    }));
    return { verdict: true, data, texts: [maskRanges(checked, ranges)] };
  },
});
