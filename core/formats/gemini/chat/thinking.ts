import type { OperationCall } from '../../../contract/provider/provider.ts';
import { byName } from '../../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { noteOnce } from '../../note-once.ts';
import { type GeminiTraits, traitsOf } from '../models.ts';

/** Thinking budgets in tokens by `reasoning_effort`. */
const budgets: Readonly<Record<string, number>> = byName({
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
});

/**
 * Returns `thinkingConfig` for the `reasoning_effort` of a chat call or for `thinking` of Anthropic's clients. `thinking` wins if it
 * states an amount; adaptive thinking takes its amount from the effort. Asks for reasoning summaries as well. Reports what the model
 * cannot do.
 */
export function thinkingConfig(params: JsonObject, call: OperationCall): JsonObject {
  const traits = traitsOf(call.model);
  const byThinking = isObject(params.thinking) ? askedByThinking(params.thinking) : null;
  const byEffort = askedByEffort(params.reasoning_effort);
  const isByEffort = byEffort !== null && (byThinking === null || byThinking === 'free');
  const name = isByEffort ? 'reasoning_effort' : 'thinking';
  const asked = isByEffort ? byEffort : byThinking;
  if (asked === null) return {};
  if (traits.thinking === 'none') {
    if (asked !== 'off') noteOnce(call.dropped, name);
    return {};
  }
  const summaries = asked === 'off' ? {} : { includeThoughts: true };
  const amount = amountOf(asked, traits);
  if (amount.changed) noteOnce(call.adapted, name);
  const config = { ...amount.config, ...summaries };
  return Object.keys(config).length > 0 ? { thinkingConfig: config } : {};
}

/** Requested reasoning: none, the amount that the model chooses, an effort, or a budget of tokens. */
type Asked = 'off' | 'free' | { readonly effort: string } | { readonly tokens: number };

function askedByEffort(effort: unknown): Asked | null {
  if (typeof effort !== 'string') return null;
  return effort === 'none' ? 'off' : { effort };
}

function askedByThinking(thinking: JsonObject): Asked {
  // `between_tools` is the least reasoning that some Claude models accept.
  if (thinking.type === 'disabled' || thinking.type === 'between_tools') return 'off';
  return typeof thinking.budget_tokens === 'number' ? { tokens: thinking.budget_tokens } : 'free';
}

function amountOf(asked: Asked, traits: GeminiTraits): { config: JsonObject; changed: boolean } {
  if (asked === 'free') return { config: {}, changed: false };
  return traits.thinking === 'level' ? levelOf(asked, traits.levels) : budgetOf(asked, traits);
}

function levelOf(asked: Exclude<Asked, 'free'>, levels: readonly string[]): { config: JsonObject; changed: boolean } {
  const level = (wanted: string, same: boolean): { config: JsonObject; changed: boolean } => {
    const scale = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
    // A level that the model lacks becomes the next higher one, because too much reasoning costs less than a wrong result.
    const found = scale.slice(scale.indexOf(wanted)).find((name) => levels.includes(name)) ?? 'HIGH';
    return { config: { thinkingLevel: found }, changed: !same || found !== wanted };
  };
  // These models always reason, so the lowest level replaces `off`.
  if (asked === 'off') return level(levels[0] ?? 'LOW', false);
  if ('tokens' in asked) return level(asked.tokens <= 1_024 ? 'LOW' : asked.tokens <= 8_192 ? 'MEDIUM' : 'HIGH', false);
  const wanted = asked.effort.toUpperCase();
  return ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'].includes(wanted) ? level(wanted, true) : level('HIGH', false);
}

function budgetOf(asked: Exclude<Asked, 'free'>, traits: GeminiTraits): { config: JsonObject; changed: boolean } {
  const tokens = asked === 'off' ? 0 : 'tokens' in asked ? asked.tokens : budgets[asked.effort];
  const wanted = tokens ?? traits.budgetMax;
  const budget = Math.min(traits.budgetMax, Math.max(traits.budgetMin, wanted));
  return { config: { thinkingBudget: budget }, changed: tokens === undefined || budget !== wanted };
}
