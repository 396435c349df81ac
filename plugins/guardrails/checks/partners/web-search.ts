import * as v from 'valibot';
import { counted } from '../../../../core/contract/values/text/counted.ts';
import type { Check } from '../check.ts';
import { bearer, definePartner, secret, text } from './partner.ts';

const domains = v.optional(v.pipe(v.array(text), v.maxLength(100)));
const count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(20)), 10);
const common = {
  prefix: v.optional(v.pipe(v.string(), v.maxLength(1000)), '\n<web_search_context>'),
  suffix: v.optional(v.pipe(v.string(), v.maxLength(1000)), '\n</web_search_context>'),
  includeDomains: domains,
  excludeDomains: domains,
};

interface Result {
  readonly title?: string | null | undefined;
  readonly url: string;
  readonly text: string;
}

/** Adds the results behind the last text of the request: to what the user wrote, because pages are not to be trusted as instructions. */
function added(texts: readonly string[], results: readonly Result[], prefix: string, suffix: string): string[] {
  if (results.length === 0) return [...texts];
  const list = results.map(({ title, url, text: page }, index) => `[${index + 1}] "${title ?? ''}"\nURL: ${url}\n${page}`);
  return texts.map((one, index) => (index === texts.length - 1 ? `${one}${prefix}\n${list.join('\n')}${suffix}` : one));
}

const exa = definePartner({
  id: 'exa.online',
  sides: ['input'],
  parameters: { ...common, numResults: count },
  credentials: { apiKey: secret },
  timeoutMs: 10_000,
  changes: () => true,
  response: v.looseObject({
    results: v.array(
      v.looseObject({ title: v.optional(v.nullable(v.string())), url: v.string(), text: v.optional(v.string(), '') }),
    ),
  }),
  toRequest: ({ text: query, parameters: { numResults, includeDomains, excludeDomains }, credentials }) => ({
    url: 'https://api.exa.ai/search',
    headers: ['x-api-key', credentials.apiKey],
    body: {
      query,
      numResults,
      contents: { text: true },
      ...(includeDomains === undefined ? {} : { includeDomains }),
      ...(excludeDomains === undefined ? {} : { excludeDomains }),
    },
  }),
  toVerdict: ({ results }, { texts, parameters: { prefix, suffix } }) => ({
    verdict: true,
    data: { explanation: `Added ${counted(results.length, 'result')}.` },
    texts: added(texts, results, prefix, suffix),
  }),
});

const tavily = definePartner({
  id: 'tavily.online',
  sides: ['input'],
  parameters: {
    ...common,
    searchDepth: v.optional(v.picklist(['basic', 'advanced']), 'basic'),
    topic: v.optional(v.picklist(['general', 'news', 'finance']), 'general'),
    timeRange: v.optional(v.picklist(['day', 'week', 'month', 'year'])),
    maxResults: count,
  },
  credentials: { apiKey: secret },
  timeoutMs: 10_000,
  changes: () => true,
  response: v.looseObject({
    results: v.array(
      v.looseObject({ title: v.optional(v.nullable(v.string())), url: v.string(), content: v.optional(v.string(), '') }),
    ),
  }),
  toRequest: ({ text: query, parameters, credentials }) => ({
    url: 'https://api.tavily.com/search',
    headers: bearer(credentials.apiKey),
    body: {
      query,
      search_depth: parameters.searchDepth,
      topic: parameters.topic,
      max_results: parameters.maxResults,
      ...(parameters.timeRange === undefined ? {} : { time_range: parameters.timeRange }),
      ...(parameters.includeDomains === undefined ? {} : { include_domains: parameters.includeDomains }),
      ...(parameters.excludeDomains === undefined ? {} : { exclude_domains: parameters.excludeDomains }),
    },
  }),
  toVerdict: ({ results }, { texts, parameters: { prefix, suffix } }) => ({
    verdict: true,
    data: { explanation: `Added ${counted(results.length, 'result')}.` },
    texts: added(
      texts,
      results.map(({ content, ...result }) => ({ ...result, text: content })),
      prefix,
      suffix,
    ),
  }),
});

/** Results of a web search for the last message, added to the request. */
export const webSearch: readonly Check[] = [exa, tavily];
