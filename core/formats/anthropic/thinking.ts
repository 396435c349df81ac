import type { OperationCall } from '../../contract/provider/provider.ts';
import { byName } from '../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { forcesTool } from '../forces-tool.ts';
import { noteOnce } from '../note-once.ts';
import { traitsOf } from './models.ts';
import { isLoopWithoutReasoning } from './tool-loop.ts';

/** Thinking budgets of models before 4.6, in tokens by `reasoning_effort`. */
const budgets: Readonly<Record<string, number>> = byName({ low: 1_024, medium: 8_192, high: 16_384, xhigh: 32_768, max: 32_768 });

/** Defaults for `max_tokens`, which the provider requires and chat calls may omit, without and with reasoning. */
const defaultMaxTokens = 4_096;
const defaultMaxTokensThinking = 16_384;

/** Smallest budget that the provider accepts. */
const budgetMin = 1_024;

/**
 * Returns `max_tokens`, `thinking` and `output_config.effort` of a chat call. `thinking` sent by the client takes precedence over
 * `reasoning_effort`. Thinking tokens count towards `max_tokens`, so the defaults leave room for them.
 */
export function thinkingParams(params: JsonObject, call: OperationCall, turns: readonly JsonObject[]): JsonObject {
  const asked = askedParams(params, call);
  if (!isObject(asked.thinking) || !isRefused(asked.thinking, params, call, turns)) return asked;
  const { thinking: _, ...others } = asked;
  if (isObject(params.thinking)) noteOnce(call.dropped, 'thinking');
  else noteOnce(others.output_config === undefined ? call.dropped : call.adapted, 'reasoning_effort');
  return others;
}

/**
 * True if the provider would refuse the call because of its thinking. Thinking excludes a forced tool (Anthropic's extended thinking,
 * "tool use"); models that think by default keep it, because leaving it out does not switch it off.
 */
function isRefused(thinking: JsonObject, params: JsonObject, call: OperationCall, turns: readonly JsonObject[]): boolean {
  if (thinking.type !== 'enabled' && thinking.type !== 'adaptive') return false;
  if (thinking.type === 'enabled' && isLoopWithoutReasoning(turns)) return true;
  return traitsOf(call.model).off === 'omit' && forcesTool(params);
}

function askedParams(params: JsonObject, call: OperationCall): JsonObject {
  const traits = traitsOf(call.model);
  const asked = numberOr(params.max_completion_tokens, numberOr(params.max_tokens, null));
  if (isObject(params.thinking)) {
    const budget = numberOr(params.thinking.budget_tokens, 0) ?? 0;
    const think = params.thinking.type === 'adaptive' ? defaultMaxTokensThinking : defaultMaxTokens + budget;
    return { max_tokens: asked ?? think, thinking: params.thinking, ...effortOf(params, call) };
  }
  const fallback = traits.thinksByDefault ? defaultMaxTokensThinking : defaultMaxTokens;
  const effort = params.reasoning_effort;
  if (typeof effort !== 'string') return { max_tokens: asked ?? fallback };
  if (effort === 'none') return { max_tokens: asked ?? fallback, ...thinkingOff(call) };
  if (traits.thinking === 'adaptive') {
    // Since 4.7 the text of the reasoning is left out unless the request asks for it.
    const thinking = { type: 'adaptive', display: 'summarized' };
    return { max_tokens: asked ?? defaultMaxTokensThinking, thinking, ...effortOf(params, call) };
  }
  return budgetParams(effort, asked, call);
}

function thinkingOff(call: OperationCall): JsonObject {
  const { off } = traitsOf(call.model);
  if (off === 'omit') return {};
  if (off !== 'never') return { thinking: { type: off } };
  noteOnce(call.adapted, 'reasoning_effort');
  return { output_config: { effort: 'low' } };
}

function effortOf(params: JsonObject, call: OperationCall): JsonObject {
  const traits = traitsOf(call.model);
  const asked = params.reasoning_effort;
  if (typeof asked !== 'string' || asked === 'none' || traits.thinking === 'budget') return {};
  const effort = asked === 'minimal' ? 'low' : asked === 'xhigh' && !traits.xhigh ? 'high' : asked;
  if (effort !== asked) noteOnce(call.adapted, 'reasoning_effort');
  return { output_config: { effort } };
}

/** A budget must be below `max_tokens`. If the client's limit is too small for it, half of that limit is used for reasoning. */
function budgetParams(effort: string, asked: number | null, call: OperationCall): JsonObject {
  const wanted = budgets[effort] ?? budgetMin;
  if (!(effort in budgets)) noteOnce(call.adapted, 'reasoning_effort');
  const maxTokens = asked ?? wanted + defaultMaxTokens;
  const budget = wanted < maxTokens ? wanted : Math.floor(maxTokens / 2);
  if (budget < budgetMin) {
    noteOnce(call.dropped, 'reasoning_effort');
    return { max_tokens: maxTokens };
  }
  if (budget !== wanted) noteOnce(call.adapted, 'reasoning_effort');
  return { max_tokens: maxTokens, thinking: { type: 'enabled', budget_tokens: budget } };
}

function numberOr<Other>(value: unknown, other: Other): number | Other {
  return typeof value === 'number' ? value : other;
}
