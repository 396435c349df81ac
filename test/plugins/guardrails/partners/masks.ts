import type { JsonObject } from '../../../../core/contract/values/json/json.ts';

/** A replacement that is written into the text, which `Format.redact` cannot state. */
interface Mask {
  readonly id: string;
  readonly side: 'input' | 'output';
  readonly parameters: JsonObject;
  readonly credentials: JsonObject;
  readonly reply: JsonObject;
  readonly text: string;
}

const apiKey = { apiKey: 'k-1' };

export const masks: readonly Mask[] = [
  {
    ...{ id: 'promptfoo.pii', side: 'input', parameters: { redact: true }, credentials: {}, text: '[PERSON] world' },
    reply: { results: [{ flagged: true, payload: { pii: [{ entity_type: 'person', start: 0, end: 5, pii: 'hello' }] } }] },
  },
  {
    ...{ id: 'lakera.guard', side: 'input', parameters: {}, credentials: apiKey, text: 'hello [PII/NAME]' },
    reply: {
      flagged: true,
      payload: [{ start: 6, end: 11, text: 'world', detector_type: 'pii/name' }],
      breakdown: [{ detector_type: 'pii/name', detected: true }],
    },
  },
  {
    ...{ id: 'exa.online', side: 'input', parameters: {}, credentials: apiKey },
    text: 'hello world\n<web_search_context>\n[1] "T"\nURL: https://e.example\npage\n</web_search_context>'.replace(
      'page\n<',
      'page\n<',
    ),
    reply: { results: [{ id: 'i', title: 'T', url: 'https://e.example', text: 'page' }] },
  },
  {
    ...{ id: 'tavily.online', side: 'input', parameters: { prefix: ' <', suffix: '>' }, credentials: apiKey },
    text: 'hello world <\n[1] "T"\nURL: https://e.example\npage>',
    reply: { query: 'hello world', results: [{ title: 'T', url: 'https://e.example', content: 'page', score: 1 }] },
  },
];
