import * as v from 'valibot';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import type { Check } from '../check.ts';
import { requestTextOf } from '../event.ts';
import { type Asked, definePartner, flag, maskRanges, type PartnerRequest, secret, text } from './partner.ts';

const credentials = { apiKey: secret };
const timeoutMs = 15_000;
const position = v.pipe(v.array(v.number()), v.minLength(2));
const response = v.looseObject({
  results: v.pipe(
    v.array(
      v.looseObject({
        evaluation_result: v.looseObject({
          pass: v.boolean(),
          additional_info: v.optional(v.nullable(v.looseObject({ positions: v.optional(v.nullable(v.array(position))) }))),
        }),
      }),
    ),
    v.minLength(1),
  ),
});

function toRequest(asked: Asked<unknown, { apiKey: string }>, evaluator: string, criteria?: string): PartnerRequest {
  return {
    url: 'https://api.patronus.ai/v1/evaluate',
    headers: ['x-api-key', asked.credentials.apiKey],
    body: {
      evaluators: [{ evaluator, explain_strategy: 'always', ...(criteria === undefined ? {} : { criteria }) }],
      evaluated_model_input: requestTextOf(asked.subject),
      evaluated_model_output: asked.text,
    },
  };
}

type ServiceResponse = v.InferOutput<typeof response>;
const resultOf = ({ results: [first] }: ServiceResponse) => (first as ServiceResponse['results'][number]).evaluation_result;
const dataOf = (given: ServiceResponse): JsonObject => (resultOf(given).additional_info ?? {}) as JsonObject;

/** One evaluator of https://docs.patronus.ai that judges a response. */
function evaluation(name: string, evaluator: string, criteria?: string): Check {
  return definePartner({
    id: `patronus.${name}`,
    sides: ['output'],
    parameters: {},
    credentials,
    timeoutMs,
    response,
    toRequest: (asked) => toRequest(asked, evaluator, criteria),
    toVerdict: (given) => ({ verdict: resultOf(given).pass, data: dataOf(given) }),
  });
}

/** An evaluator that reports places in the text, which `redact` masks. */
function detection(name: string): Check {
  return definePartner({
    id: `patronus.${name}`,
    sides: ['output'],
    parameters: { redact: flag() },
    credentials,
    timeoutMs,
    eachText: true,
    changes: ({ redact }) => redact,
    redacts: ({ redact }) => redact,
    response,
    toRequest: (asked) => toRequest(asked, name),
    toVerdict(given, { parameters: { redact }, text: checked }) {
      const { pass, additional_info } = resultOf(given);
      const ranges = (additional_info?.positions ?? []).map(([start = 0, end = 0]) => ({ start, end, by: '[REDACTED]' }));
      const data = { found: ranges.length };
      if (pass) return { verdict: true, data };
      return redact && ranges.length > 0
        ? { verdict: true, data, texts: [maskRanges(checked, ranges)] }
        : { verdict: false, data };
    },
  });
}

const custom = definePartner({
  id: 'patronus.custom',
  sides: ['output'],
  parameters: { profile: text },
  credentials,
  timeoutMs,
  response,
  toRequest(asked) {
    // `evaluator:criteria`, or the criteria of a judge.
    const [, evaluator = 'judge', criteria] = /^([^:]*):(.*)$/s.exec(asked.parameters.profile) ?? [];
    return toRequest(asked, evaluator, criteria ?? asked.parameters.profile);
  },
  toVerdict: (given) => ({ verdict: resultOf(given).pass, data: dataOf(given) }),
});

export const patronus: readonly Check[] = [
  ...[detection('pii'), detection('phi'), custom],
  evaluation('isConcise', 'judge', 'patronus:is-concise'),
  evaluation('isHelpful', 'judge', 'patronus:is-helpful'),
  evaluation('isPolite', 'judge', 'patronus:is-polite'),
  evaluation('noApologies', 'judge', 'patronus:no-apologies'),
  evaluation('noGenderBias', 'judge', 'patronus:no-gender-bias'),
  evaluation('noRacialBias', 'judge', 'patronus:no-racial-bias'),
  evaluation('retrievalAnswerRelevance', 'answer-relevance'),
  evaluation('retrievalHallucination', 'hallucination'),
  evaluation('toxicity', 'toxicity'),
];
