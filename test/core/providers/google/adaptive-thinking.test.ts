import { expect, it } from 'vitest';
import { thinkingConfig } from '../../../../core/formats/gemini/chat/thinking.ts';
import { callOf } from '../contract-suite.ts';

it.each([
  ['gemini-3-pro-preview', { thinkingLevel: 'LOW', includeThoughts: true }],
  ['gemini-2.5-pro', { thinkingBudget: 1024, includeThoughts: true }],
])('%s: adaptive thinking takes its amount from the effort', (model, config) => {
  const params = { model, thinking: { type: 'adaptive' }, reasoning_effort: 'low' };
  expect(thinkingConfig(params, callOf(params, {}, {}))).toEqual({ thinkingConfig: config });
});

it('adaptive thinking: a token budget takes precedence over the effort', () => {
  const params = { model: 'gemini-2.5-pro', thinking: { type: 'enabled', budget_tokens: 2000 }, reasoning_effort: 'high' };
  expect(thinkingConfig(params, callOf(params, {}, {}))).toEqual({
    thinkingConfig: { thinkingBudget: 2000, includeThoughts: true },
  });
});

it('thinking between tools: reasoning is off, as with disabled thinking', () => {
  const configOf = (type: string): unknown => {
    const params = { model: 'gemini-2.5-flash', thinking: { type } };
    return thinkingConfig(params, callOf(params, {}, {}));
  };
  expect(configOf('between_tools')).toEqual({ thinkingConfig: { thinkingBudget: 0 } });
  expect(configOf('disabled')).toEqual(configOf('between_tools'));
});
