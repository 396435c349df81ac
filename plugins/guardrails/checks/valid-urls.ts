import * as v from 'valibot';
import { callService } from './call-service.ts';
import { type Check, type CheckServices, defineCheck, excerpt } from './check.ts';

/** Texts are written by models: their number of calls is bounded. */
const urlsMax = 20;
const timeoutMs = 3000;
const validationMethod = 'HTTP request';

/** `default.validUrls`: every URL of the text answers a GET with 2xx. Addresses that the gateway may not call are not valid. */
export const validUrls: Check = defineCheck({
  id: 'default.validUrls',
  sides: ['output'],
  parameters: v.strictObject({
    onlyDNS: v.optional(v.literal(false, 'look-ups without a request are not part of this version'), false),
    not: v.optional(v.boolean(), false),
  }),
  prepare:
    ({ not }, services) =>
    async ({ text }) => {
      const urls = [...new Set(text.match(/https?:\/\/[^\s<>"'`)\]}]+/g)?.map((url) => url.replace(/[.,;:!?]+$/, '')) ?? [])];
      const base = { not, textExcerpt: excerpt(text) };
      if (urls.length === 0) {
        return { verdict: false, data: { explanation: 'No URLs found in the text.', urls, validationMethod, ...base } };
      }
      const answers = await Promise.all(urls.map((url, index) => (index < urlsMax ? isReached(services, url) : false)));
      const invalidUrls = urls.filter((_url, index) => !answers[index]);
      const isValid = invalidUrls.length === 0;
      const verdict = isValid !== not;
      const explanation = isValid
        ? `All URLs are valid (${urls.length} found).`
        : `Some URLs are invalid (${invalidUrls.length} of ${urls.length} failed).`;
      const found = urls.filter((_url, index) => answers[index]);
      return {
        verdict,
        data: { verdict, not, explanation, validUrls: found, invalidUrls, validationMethod, textExcerpt: excerpt(text) },
      };
    },
});

async function isReached(services: CheckServices, url: string): Promise<boolean> {
  if (!URL.canParse(url)) return false;
  try {
    const { status } = await callService(services, { url, headers: [], timeoutMs });
    return status >= 200 && status < 300;
  } catch {
    return false;
  }
}
