import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import * as v from 'valibot';
import { callService } from './call-service.ts';
import { type Check, type CheckServices, defineCheck, excerpt } from './check.ts';
import { scan } from './scan.ts';

/** Texts are written by models: their number of calls is bounded. */
const urlsMax = 20;
const timeoutMs = 3000;

/**
 * `default.validUrls`: every URL of the text returns 2xx to a GET, with `onlyDNS` its host name has an address. Addresses that the gateway may
 * not call are not valid.
 */
export const validUrls: Check = defineCheck({
  id: 'default.validUrls',
  sides: ['output'],
  demandsForm: true,
  parameters: v.strictObject({
    onlyDNS: v.optional(v.boolean(), false),
    not: v.optional(v.boolean(), false),
  }),
  prepare:
    ({ not, onlyDNS }, services) =>
    async ({ text, ctx }) => {
      const urls = await scan(services.tasks, 'urls', text, ctx);
      const validationMethod = onlyDNS ? 'DNS lookup' : 'HTTP request';
      const base = { not, textExcerpt: excerpt(text) };
      if (urls.length === 0) {
        return { verdict: false, data: { explanation: 'No URLs found in the text.', urls, validationMethod, ...base } };
      }
      const reached = await Promise.all(
        urls.map((url, index) => (index < urlsMax ? (onlyDNS ? hasAddress(url) : isReached(services, url)) : false)),
      );
      const invalidUrls = urls.filter((_url, index) => !reached[index]);
      const isValid = invalidUrls.length === 0;
      const verdict = isValid !== not;
      const explanation = isValid
        ? `All URLs are valid (${urls.length} found).`
        : `Some URLs are invalid (${invalidUrls.length} of ${urls.length} failed).`;
      const found = urls.filter((_url, index) => reached[index]);
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

/**
 * Returns true if the name of the host has an address. Hosts that are addresses have no name to look up. `servers` take the place of those of the
 * system.
 */
export async function hasAddress(url: string, servers?: readonly string[]): Promise<boolean> {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (host === '' || isIP(host) !== 0) return false;
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (servers) resolver.setServers(servers);
  try {
    return (await Promise.any([resolver.resolve4(host), resolver.resolve6(host)])).length > 0;
  } catch {
    return false;
  } finally {
    resolver.cancel();
  }
}
