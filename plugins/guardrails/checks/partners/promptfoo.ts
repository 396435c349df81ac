import * as v from 'valibot';
import { bothSides, type Check } from '../check.ts';
import { definePartner, flag, maskRanges } from './partner.ts';

const categories = v.optional(v.record(v.string(), v.boolean()), {});
const base = 'https://api.promptfoo.dev/v1';

const guard = definePartner({
  id: 'promptfoo.guard',
  sides: ['input'],
  parameters: {},
  credentials: {},
  response: v.looseObject({ results: v.pipe(v.array(v.looseObject({ flagged: v.boolean(), categories })), v.minLength(1)) }),
  toRequest: ({ text }) => ({ url: `${base}/guard`, headers: [], body: { input: text } }),
  toVerdict: ({ results }) => ({
    verdict: results.every((result) => !result.flagged && !result.categories.jailbreak && !result.categories.prompt_injection),
    data: results[0] as Record<string, unknown>,
  }),
});

const harm = definePartner({
  id: 'promptfoo.harm',
  sides: bothSides,
  parameters: {},
  credentials: {},
  response: v.looseObject({ results: v.pipe(v.array(v.looseObject({ flagged: v.boolean() })), v.minLength(1)) }),
  toRequest: ({ text }) => ({ url: `${base}/harm`, headers: [], body: { input: text } }),
  toVerdict: ({ results }) => ({
    verdict: results.every(({ flagged }) => !flagged),
    data: results[0] as Record<string, unknown>,
  }),
});

const entity = v.looseObject({ entity_type: v.string(), start: v.number(), end: v.number() });

const pii = definePartner({
  id: 'promptfoo.pii',
  sides: bothSides,
  parameters: { redact: flag() },
  credentials: {},
  eachText: true,
  changes: ({ redact }) => redact,
  redacts: ({ redact }) => redact,
  response: v.looseObject({
    results: v.tuple([
      v.looseObject({ flagged: v.boolean(), payload: v.optional(v.looseObject({ pii: v.optional(v.array(entity)) })) }),
    ]),
  }),
  toRequest: ({ text }) => ({ url: `${base}/pii`, headers: [], body: { input: text } }),
  toVerdict({ results: [{ flagged, payload }] }, { parameters, text }) {
    const entities = payload?.pii ?? [];
    const data = { entities: entities.map(({ entity_type }) => entity_type) };
    if (!flagged) return { verdict: true, data };
    if (!parameters.redact || entities.length === 0) return { verdict: false, data };
    const ranges = entities.map(({ entity_type, start, end }) => ({ start, end, by: `[${entity_type.toUpperCase()}]` }));
    return { verdict: true, data, texts: [maskRanges(text, ranges)] };
  },
});

/** https://www.promptfoo.dev/docs/guides: three checks without credentials. */
export const promptfoo: readonly Check[] = [guard, harm, pii];
