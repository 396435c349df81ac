import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { withOwnReasoning } from '../../../core/formats/anthropic/own-reasoning.ts';
import { sealBlock } from '../../../core/formats/sealed-blocks.ts';
import { callOf } from '../providers/contract-suite.ts';

const cited = (encrypted_index: string): JsonObject => ({
  type: 'web_search_result_location',
  url: 'https://example.com',
  title: 'Example',
  cited_text: 'x',
  encrypted_index,
});

function sent(content: JsonObject[]) {
  const params = { model: 'claude-opus-5', messages: [{ role: 'assistant', content }] };
  const call = callOf(params, {}, {});
  const body = withOwnReasoning(params, call);
  return { content: (body.messages as JsonObject[])[0]?.content, dropped: call.dropped, same: body === params };
}

it('a Messages call to Claude drops citations that the gateway derived for another model, and keeps its own', () => {
  const { content, dropped } = sent([
    { type: 'text', text: 'a', citations: [cited('')] },
    { type: 'text', text: 'b', citations: [cited(''), cited('c2ln')] },
  ]);
  expect(content).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b', citations: [cited('c2ln')] },
  ]);
  expect(dropped).toEqual(['messages.citations']);
});

it('a Messages call to Claude drops sealed blocks of other providers', () => {
  const text = { type: 'text', text: 'a' };
  expect(sent([sealBlock({ type: 'tool_call', toolCall: {} }), text])).toEqual({
    content: [text],
    dropped: ['messages.thinking'],
    same: false,
  });
});

it('a Messages call with Claude’s own content stays the same object', () => {
  expect(sent([{ type: 'text', text: 'a', citations: [cited('c2ln')] }]).same).toBe(true);
});

describe('a Messages call with a thinking budget', () => {
  const budget = { type: 'enabled', budget_tokens: 2_048 };
  const question = { role: 'user', content: 'look' };
  const calls = (...before: JsonObject[]) => ({
    role: 'assistant',
    content: [...before, { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }],
  });
  const results = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' }] };
  const own = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
  const foreign = { type: 'thinking', thinking: 'hm', signature: 'gemini:c2ln' };
  const clearing = { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] };

  function budgeted(messages: JsonObject[], more: JsonObject = {}) {
    const params = { model: 'claude-sonnet-4-5', thinking: budget, messages, ...more };
    const call = callOf(params, {}, {});
    return { body: withOwnReasoning(params, call), params, dropped: call.dropped };
  }

  it.each([
    ['removed reasoning', [question, calls(foreign), results], ['messages.thinking', 'thinking']],
    ['no reasoning', [question, calls(), results, { role: 'system', content: 'more' }], ['thinking']],
    ['no reasoning in its first turn', [question, calls({ type: 'text', text: 'a' }), results, calls(), results], ['thinking']],
  ])('loses it in a tool loop with %s', (_, messages, expected) => {
    const { body, dropped } = budgeted(messages);
    expect([body.thinking, dropped]).toEqual([undefined, expected]);
  });

  it.each([
    ['that Claude began', [question, calls(own), results, calls(), results]],
    ['that has ended', [question, calls(), results, { role: 'assistant', content: 'done' }, question]],
  ])('keeps it after a tool loop %s', (_, messages) => {
    const { body, params } = budgeted(messages);
    expect(body).toBe(params);
  });

  it('keeps it with adaptive thinking', () => {
    const { body, params } = budgeted([question, calls(), results], { thinking: { type: 'adaptive' } });
    expect(body).toBe(params);
  });

  it('loses the edit that clears thinking with it', () => {
    const other = { type: 'clear_tool_uses_20250919' };
    const alone = budgeted([question, calls(), results], { context_management: clearing });
    expect(alone.body).not.toHaveProperty('context_management');
    expect(alone.dropped).toEqual(['thinking', 'context_management.edits']);
    const both = budgeted([question, calls(), results], { context_management: { edits: [...clearing.edits, other] } });
    expect(both.body.context_management).toEqual({ edits: [other] });
  });
});
