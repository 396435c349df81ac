import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import type { Format } from './formats.ts';

const apiKey = { apiKey: 'k-1' };

const patronus = (pass: boolean, positions: number[][] = []): JsonObject => ({
  results: [
    { status: 'success', evaluation_result: { pass, additional_info: { positions, extra: null, confidence_interval: null } } },
  ],
});
const patronusBody = (evaluator: string, criteria?: string): JsonObject => ({
  evaluators: [{ evaluator, explain_strategy: 'always', ...(criteria ? { criteria } : {}) }],
  evaluated_model_input: 'hello world',
  evaluated_model_output: 'hello',
});
const patronusOf = (name: string, body: JsonObject, parameters: JsonObject = {}): Format => ({
  ...{ id: `patronus.${name}`, side: 'output', parameters, credentials: apiKey, url: 'https://api.patronus.ai/v1/evaluate' },
  ...{ headers: ['x-api-key', 'k-1'], body, pass: patronus(true), block: patronus(false) },
});
const masked = (name: string): Format => ({
  ...patronusOf(name, patronusBody(name)),
  redact: { parameters: { redact: true }, reply: patronus(false, [[0, 5]]) },
});

const qualifireOf = (name: string, side: 'input' | 'output', more: JsonObject, parameters: JsonObject = {}): Format => ({
  ...{
    id: `qualifire.${name}`,
    side,
    parameters,
    credentials: apiKey,
    url: 'https://proxy.qualifire.ai/api/evaluation/evaluate',
  },
  headers: ['x-qualifire-api-key', 'k-1'],
  body: { input: 'hello world', ...(side === 'output' ? { output: 'hello' } : {}), ...more },
  pass: { status: 'passed', evaluationResults: [] },
  block: { status: 'failed', evaluationResults: [{ type: name }] },
});

/** Formats of services that have one evaluator per check. */
export const evaluatorFormats: readonly Format[] = [
  ...[masked('pii'), masked('phi'), patronusOf('custom', patronusBody('judge', 'mine'), { profile: 'mine' })],
  patronusOf('isConcise', patronusBody('judge', 'patronus:is-concise')),
  patronusOf('isHelpful', patronusBody('judge', 'patronus:is-helpful')),
  patronusOf('isPolite', patronusBody('judge', 'patronus:is-polite')),
  patronusOf('noApologies', patronusBody('judge', 'patronus:no-apologies')),
  patronusOf('noGenderBias', patronusBody('judge', 'patronus:no-gender-bias')),
  patronusOf('noRacialBias', patronusBody('judge', 'patronus:no-racial-bias')),
  patronusOf('retrievalAnswerRelevance', patronusBody('answer-relevance')),
  patronusOf('retrievalHallucination', patronusBody('hallucination')),
  patronusOf('toxicity', patronusBody('toxicity')),
  qualifireOf('contentModeration', 'output', { content_moderation_check: true }),
  qualifireOf('pii', 'input', { pii_check: true }),
  qualifireOf('promptInjections', 'input', { prompt_injections: true }),
  qualifireOf('hallucinations', 'output', { hallucinations_check: true, hallucinations_mode: 'balanced' }),
  qualifireOf('grounding', 'output', { grounding_check: true, grounding_mode: 'quality' }, { mode: 'quality' }),
  qualifireOf('policy', 'input', { assertions: ['be kind'], assertions_mode: 'balanced' }, { policies: ['be kind'] }),
  {
    ...qualifireOf('toolUseQuality', 'output', {}),
    body: {
      messages: [
        { role: 'user', content: 'hello world' },
        { role: 'assistant', content: 'hello' },
      ],
      available_tools: [],
      tool_selection_quality_check: true,
      tsq_mode: 'balanced',
    },
  },
];
