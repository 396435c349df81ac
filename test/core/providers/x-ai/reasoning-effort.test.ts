import { expect, it } from 'vitest';
import { xAi } from '../../../../core/providers/x-ai/index.ts';
import { callOf } from '../contract-suite.ts';

it.each([
  ...['grok-3', 'grok-4', 'grok-4-0709', 'grok-4-fast-reasoning', 'grok-4-1-fast-non-reasoning', 'grok-4.20-0309-reasoning'],
  ...['grok-code-fast-1', 'grok-build-0.1'],
])('x-ai: %s gets no reasoning_effort, which it rejects', (model) => {
  const params = { model, messages: [], reasoning_effort: 'high' };
  const call = callOf(params, {}, {});
  expect(xAi.operations.chatComplete?.toProvider?.(params, call)).toEqual({ model, messages: [] });
  expect(call.dropped).toEqual(['reasoning_effort']);
});

it.each(['grok-3-mini', 'grok-4.3', 'grok-4.6', 'grok-4.20-multi-agent-0309', 'grok-5'])('x-ai: %s gets the effort', (model) => {
  const params = { model, messages: [], reasoning_effort: 'high' };
  expect(xAi.operations.chatComplete?.toProvider?.(params, callOf(params, {}, {}))).toBe(params);
});
