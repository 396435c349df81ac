import type { OperationCall } from '../../../contract/provider/provider.ts';
import { byName } from '../../../contract/values/json/by-name.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { startOfLoop } from '../../../formats/anthropic/tool-loop.ts';
import { forcesTool } from '../../../formats/forces-tool.ts';
import { noteOnce } from '../../../formats/note-once.ts';
import { type ClaudeTraits, claudeTraits } from '../claude/claude-models.ts';
import { baseModelId, makerOf } from '../model-id.ts';
import type { Conversation } from './chat-messages.ts';

/** Effect of a reasoning effort: fields of the model's own, the effort of `outputConfig`, and the tokens it needs. */
export interface Reasoning {
  readonly fields: JsonObject;
  readonly effort: string | null;
  readonly maxTokens: number | null;
  /** True if a Claude model reasons, which limits its other parameters. */
  readonly thinks: boolean;
}

/** Shares of `max_tokens` that Claude models before 4.6 may use for reasoning, and the minimum in tokens. */
const shares: Readonly<Record<string, number>> = byName({ minimal: 0.1, low: 0.2, medium: 0.5, high: 0.8 });
const budgetMin = 1_024;
/** `max_tokens` of a call whose effort is a share of it, if the call does not set it. */
const maxTokensThinking = 16_384;

/** Converts `reasoning_effort`, or `thinking` of the caller, which takes precedence, to the fields of the model's maker. */
export function reasoningOf(
  params: JsonObject,
  maxTokens: number | null,
  turns: Conversation['messages'],
  call: OperationCall,
): Reasoning {
  const asked = askedReasoning(params, maxTokens, call);
  const { thinking, ...fields } = asked.fields;
  if (!asked.thinks || !isObject(thinking) || !isRefused(thinking, params, turns, call)) return asked;
  if (isObject(params.thinking)) noteOnce(call.dropped, 'thinking');
  else noteOnce(asked.effort === null ? call.dropped : call.adapted, 'reasoning_effort');
  return { fields, effort: asked.effort, maxTokens, thinks: false };
}

/** True if Claude would refuse the call because of its thinking: see `isRefused` of the anthropic provider. */
function isRefused(thinking: JsonObject, params: JsonObject, turns: Conversation['messages'], call: OperationCall): boolean {
  if (thinking.type === 'enabled' && isLoopWithoutReasoning(turns)) return true;
  return claudeTraits(call.model)?.off === 'omit' && forcesTool(params);
}

/** As `isLoopWithoutReasoning` of Messages calls. */
function isLoopWithoutReasoning(turns: Conversation['messages']): boolean {
  const start = startOfLoop(turns, ({ content }) => content.some((block) => block.toolResult !== undefined));
  return start !== null && start.content[0]?.reasoningContent === undefined;
}

function askedReasoning(params: JsonObject, maxTokens: number | null, call: OperationCall): Reasoning {
  const { thinking, reasoning_effort: effort } = params;
  const idle: Reasoning = { fields: {}, effort: null, maxTokens, thinks: false };
  const claude = claudeTraits(call.model);
  if (isObject(thinking)) {
    if (claude || makerOf(call.model) === '') return { ...idle, fields: { thinking }, thinks: thinking.type !== 'disabled' };
    noteOnce(call.dropped, 'thinking');
  }
  if (typeof effort !== 'string') return idle;
  if (claude) return claudeReasoning(effort, claude, maxTokens, call);
  if (effort === 'none') return idle;
  if (makerOf(call.model) === 'openai') return { ...idle, fields: { reasoning_effort: scaled(effort, call) } };
  if (/^amazon\.nova-(?!lite|micro|pro|premier)/.test(baseModelId(call.model))) {
    return { ...idle, fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: scaled(effort, call) } } };
  }
  noteOnce(call.dropped, 'reasoning_effort');
  return idle;
}

/** These makers have the efforts low, medium and high. */
function scaled(effort: string, call: OperationCall): string {
  if (['low', 'medium', 'high'].includes(effort)) return effort;
  noteOnce(call.adapted, 'reasoning_effort');
  return effort === 'minimal' ? 'low' : 'high';
}

function claudeReasoning(effort: string, traits: ClaudeTraits, maxTokens: number | null, call: OperationCall): Reasoning {
  const idle: Reasoning = { fields: {}, effort: null, maxTokens, thinks: false };
  const { thinking: kind, off } = traits;
  if (effort === 'none') {
    if (off === 'omit') return idle;
    if (off !== 'never') return { ...idle, fields: { thinking: { type: off } } };
    noteOnce(call.adapted, 'reasoning_effort');
    return { ...idle, effort: 'low' };
  }
  if (kind === 'adaptive') {
    const taken = effort === 'minimal' ? 'low' : effort;
    if (taken !== effort) noteOnce(call.adapted, 'reasoning_effort');
    // These models return their reasoning only on request.
    const thinking = { type: 'adaptive', display: 'summarized' };
    return { ...idle, fields: { thinking }, effort: taken, thinks: true };
  }
  const room = maxTokens ?? maxTokensThinking;
  if (kind === 'none' || room <= budgetMin) {
    noteOnce(call.dropped, 'reasoning_effort');
    return idle;
  }
  const share = shares[effort] ?? shares.high;
  if (!(effort in shares)) noteOnce(call.adapted, 'reasoning_effort');
  const budget = Math.max(budgetMin, Math.floor(room * (share as number)));
  return { fields: { thinking: { type: 'enabled', budget_tokens: budget } }, effort: null, maxTokens: room, thinks: true };
}
