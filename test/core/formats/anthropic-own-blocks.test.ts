import { expect, it } from 'vitest';
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
