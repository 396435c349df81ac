import { expect, it } from 'vitest';
import { withEffortOfModel } from '../../../../core/providers/groq/reasoning-effort.ts';
import { callOf } from '../contract-suite.ts';

it.each<[string, string, string | undefined, string[], string[]]>([
  ['llama-3.3-70b-versatile', 'high', undefined, ['reasoning_effort'], []],
  ['moonshotai/kimi-k2-instruct-0905', 'none', undefined, [], []],
  ['openai/gpt-oss-120b', 'high', 'high', [], []],
  ['openai/gpt-oss-20b', 'xhigh', 'high', [], ['reasoning_effort']],
  ['qwen/qwen3.6-27b', 'high', 'default', [], ['reasoning_effort']],
  ['qwen/qwen3-32b', 'none', 'none', [], []],
  ['a-later-model', 'high', 'high', [], []],
])('groq: %s gets for the effort %s: %s', (model, effort, sent, dropped, adapted) => {
  const params = { model, reasoning_effort: effort };
  const call = callOf(params, {}, {});
  expect(withEffortOfModel(params, call).reasoning_effort).toBe(sent);
  expect([call.dropped, call.adapted]).toEqual([dropped, adapted]);
});

it('groq: a request without an effort is the same object', () => {
  const params = { model: 'llama-3.3-70b-versatile' };
  expect(withEffortOfModel(params, callOf(params, {}, {}))).toBe(params);
});
