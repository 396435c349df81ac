import * as v from 'valibot';
import { bothSides } from '../check.ts';
import { bearer, definePartner, secret, text } from './partner.ts';

/** Zscaler AI Guard: executes a policy. */
export const zscaler = definePartner({
  id: 'zscaler.zscalerprotect',
  sides: bothSides,
  parameters: { policyId: v.union([text, v.pipe(v.number(), v.integer())]) },
  credentials: {
    zscalerApiKey: secret,
    /** Cloud of the tenant, such as `us1`. */
    zone: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,32}$/, 'expected lower-case letters, digits and hyphens'))),
  },
  timeoutMs: 10_000,
  response: v.looseObject({ action: v.picklist(['ALLOW', 'BLOCK', 'DETECT']), detectorResponses: v.optional(v.unknown()) }),
  toRequest: ({ side, text: checked, parameters, credentials: { zscalerApiKey, zone } }) => ({
    url: `https://api.${zone === undefined ? '' : `${zone}.`}zseclipse.net/v1/detection/execute-policy`,
    headers: bearer(zscalerApiKey),
    body: { policyId: parameters.policyId, direction: side === 'input' ? 'IN' : 'OUT', content: checked },
  }),
  toVerdict: ({ action, detectorResponses }) => ({
    verdict: action !== 'BLOCK',
    data: { zscalerAction: action, detectorResponses: detectorResponses ?? null },
  }),
});
