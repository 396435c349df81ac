import * as v from 'valibot';
import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { bothSides, type Check, type Side } from '../check.ts';
import { requestTextOf } from '../event.ts';
import { type Asked, conversationOf, definePartner, secret, type Values } from './partner.ts';

const mode = v.optional(v.picklist(['speed', 'balanced', 'quality']), 'balanced');
const policies = v.pipe(v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(2000))), v.minLength(1), v.maxLength(50));
const outputOnly: readonly Side[] = ['output'];

/** One evaluation of https://docs.qualifire.ai. */
function evaluation<Parameters extends v.ObjectEntries>(
  name: string,
  sides: readonly Side[],
  parameters: Parameters,
  bodyOf: (asked: Asked<Values<Parameters>, unknown>) => JsonObject,
): Check {
  return definePartner({
    id: `qualifire.${name}`,
    sides,
    parameters,
    credentials: { apiKey: secret },
    timeoutMs: 60_000,
    response: v.looseObject({ status: v.picklist(['success', 'passed', 'failed']), evaluationResults: v.optional(v.unknown()) }),
    toRequest: (asked) => ({
      url: 'https://proxy.qualifire.ai/api/evaluation/evaluate',
      headers: ['x-qualifire-api-key', (asked.credentials as { apiKey: string }).apiKey],
      body: bodyOf(asked),
    }),
    toVerdict: ({ status, evaluationResults }) => ({
      verdict: status !== 'failed',
      data: { evaluationResults: evaluationResults ?? null },
    }),
  });
}

function textsOf({ subject, side, text }: Asked<unknown, unknown>): JsonObject {
  return side === 'input' ? { input: text } : { input: requestTextOf(subject), output: text };
}

/** The functions that the request offers to the model. */
function toolsOf({ subject }: Asked<unknown, unknown>): JsonObject[] {
  const { tools } = subject.ctx.params ?? {};
  return (Array.isArray(tools) ? tools : []).flatMap((tool: unknown) =>
    isObject(tool) && isObject(tool.function) ? [tool.function] : [],
  );
}

export const qualifire: readonly Check[] = [
  evaluation('contentModeration', bothSides, {}, (asked) => ({ ...textsOf(asked), content_moderation_check: true })),
  evaluation('pii', bothSides, {}, (asked) => ({ ...textsOf(asked), pii_check: true })),
  evaluation('promptInjections', ['input'], {}, (asked) => ({ ...textsOf(asked), prompt_injections: true })),
  evaluation('hallucinations', outputOnly, { mode }, (asked) => ({
    ...textsOf(asked),
    hallucinations_check: true,
    hallucinations_mode: asked.parameters.mode,
  })),
  evaluation('grounding', outputOnly, { mode }, (asked) => ({
    ...textsOf(asked),
    grounding_check: true,
    grounding_mode: asked.parameters.mode,
  })),
  evaluation('toolUseQuality', outputOnly, { mode }, (asked) => ({
    messages: conversationOf(asked),
    available_tools: toolsOf(asked),
    tool_selection_quality_check: true,
    tsq_mode: asked.parameters.mode,
  })),
  evaluation(
    'policy',
    bothSides,
    { policies, mode, policy_target: v.optional(v.picklist(['input', 'output', 'both']), 'both') },
    (asked) => {
      const { input, output } = textsOf(asked);
      const target = asked.parameters.policy_target;
      return {
        ...(target === 'output' ? {} : { input }),
        ...(target === 'input' || output === undefined ? {} : { output }),
        assertions: asked.parameters.policies,
        assertions_mode: asked.parameters.mode,
      };
    },
  ),
];
