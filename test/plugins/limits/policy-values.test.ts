import { expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { Target } from '../../../core/contract/plugin/plan.ts';
import { type PolicyCall, readerOf } from '../../../plugins/limits/policy-values.ts';

const ofPath = { id: '0c6f5f5e-0000-4000-8000-000000000001', slug: 'pp-greeting' };
const ofTarget = { id: '0c6f5f5e-0000-4000-8000-000000000002', slug: 'pp-short' };

const callOf = (prompt: object | null, target: { index: number } | null): PolicyCall => ({
  ctx: { prompt } as unknown as RequestContext,
  target: target as Target | null,
  providerId: null,
});

it.each([
  ['model', 'gpt\u0000', '@openai/gpt\ufffd'],
  ['metadata.team', 'half \ud800', 'half \ufffd'],
  ['mcp_tool', 'add\u0000\udc00', 'add\ufffd\ufffd'],
])('policies by %s: the value is a text that the ledger can hold', (key, value, text) => {
  const ctx = { provider: 'openai', params: { model: value }, passed: null, metadata: { team: value }, mcp: { name: value } };
  expect(readerOf(key).read({ ...callOf(null, { index: 0 }), ctx: ctx as unknown as RequestContext })).toBe(text);
});

it.each([
  ['no prompt', null, { index: 0 }, [null, null]],
  ['the prompt of the path', { used: ofPath, byTarget: null }, { index: 0 }, [ofPath.slug, ofPath.id]],
  ['the prompt of the target', { used: ofPath, byTarget: new Map([[1, ofTarget]]) }, { index: 1 }, [ofTarget.slug, ofTarget.id]],
  ['a target without a prompt', { used: ofPath, byTarget: new Map([[1, ofTarget]]) }, { index: 0 }, [ofPath.slug, ofPath.id]],
  ['a tool that a model of a prompt calls', { used: ofPath, byTarget: null }, null, [ofPath.slug, ofPath.id]],
])('policies by prompt: %s', (_name, prompt, target, names) => {
  const reader = readerOf('prompt');
  const call = callOf(prompt, target);
  expect([reader.read(call), reader.alias?.(call) ?? null]).toEqual(names);
});
