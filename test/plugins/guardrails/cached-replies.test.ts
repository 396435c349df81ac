import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, chatStream, createHarness } from '../../../core/test-kit/pipeline-harness.ts';
import { json, match, user } from './ask-gateway.ts';

describe('the cache', () => {
  const cache = { mode: 'simple' };
  it.each<[string, JsonObject, [number, string | undefined][]]>([
    [
      'a reply that passed is served again',
      { input_guardrails: [match('hello')] },
      [
        [200, 'MISS'],
        [200, 'HIT'],
      ],
    ],
    [
      'a reply whose input failed is not stored',
      { input_guardrails: [match('zz')] },
      [
        [246, 'MISS'],
        [246, 'MISS'],
      ],
    ],
    [
      'a reply whose output failed is not stored',
      { output_guardrails: [match('zz')] },
      [
        [246, 'MISS'],
        [246, 'MISS'],
      ],
    ],
    [
      'a denied reply is not stored',
      { output_guardrails: [match('zz', { deny: true })] },
      [
        [446, 'MISS'],
        [446, 'MISS'],
      ],
    ],
  ])('%s', async (_name, config, expected) => {
    const gateway = createHarness();
    const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', cache, ...config }) };
    const seen: [number, string | undefined][] = [];
    for (let i = 0; i < 2; i++) {
      const sink = await gateway.send({ headers, body: user('hello world') });
      seen.push([sink.status, sink.header('x-svc-cache-status')]);
    }
    expect(seen).toEqual(expected);
  });

  it('a stream whose input failed is recorded with its status 246 and not stored', async () => {
    const gateway = createHarness();
    gateway.script(chatStream(['hel', 'lo']), chatStream(['hel', 'lo']));
    const headers = { 'x-svc-config': JSON.stringify({ provider: '@one', cache, input_guardrails: [match('zz')] }) };
    for (const at of [0, 1]) {
      const sink = await gateway.send({ headers, body: { ...user('hello world'), stream: true } });
      expect([sink.status, sink.header('x-svc-cache-status')]).toEqual([246, 'MISS']);
      expect(gateway.records[at]).toMatchObject({ status: 246, outcome: 'success' });
    }
  });
});

describe('a hit of the cache', () => {
  const cache = { mode: 'simple' };
  /** Fills the cache without guardrails, then repeats the request with them and the same cache key. */
  async function hit(config: JsonObject, more: JsonObject = {}) {
    const gateway = createHarness();
    if (more.stream) gateway.script(chatStream(['hel', 'lo']));
    const document = gateway.addConfig('saved', { provider: '@one', cache });
    const body = { ...user('hello world'), ...more };
    await gateway.send({ headers: { 'x-svc-config': 'saved' }, body });
    gateway.documents.set(`config ${document.workspaceId}/saved`, {
      ...document,
      config: { provider: '@one', cache, ...config },
    });
    const sink = await gateway.send({ headers: { 'x-svc-config': 'saved' }, body });
    expect([gateway.calls.length, sink.header('x-svc-cache-status')]).toEqual([1, 'HIT']);
    return sink;
  }

  it('shows the results of the request only', async () => {
    const gateway = createHarness();
    const config = {
      provider: '@one',
      cache,
      input_guardrails: [match('hello', { id: 'g' })],
      output_guardrails: [match('hello')],
    };
    const headers = { 'x-svc-config': JSON.stringify(config) };
    await gateway.send({ headers, body: user('hello world') });
    const sink = await gateway.send({ headers, body: user('hello world') });
    expect([sink.status, sink.header('x-svc-cache-status')]).toEqual([200, 'HIT']);
    expect(json(sink.text).choices).toEqual(chatReply('hello').choices);
    expect(json(sink.text).hook_results).toEqual({ before_request_hooks: [expect.objectContaining({ id: 'g', verdict: true })] });
  });

  it('has status 246 if a guardrail of the request fails', async () => {
    const sink = await hit({ input_guardrails: [match('zz', { id: 'g' })] });
    expect(sink.status).toBe(246);
    expect(json(sink.text).hook_results).toEqual({
      before_request_hooks: [expect.objectContaining({ id: 'g', verdict: false })],
    });
  });

  it.each([[false], [true]])('as a stream shows them in the first event unless the format is strict: %s', async (strict) => {
    const config = { input_guardrails: [match('zz', { id: 'g' })], strict_open_ai_compliance: strict };
    const sink = await hit(config, { stream: true });
    expect(sink.status).toBe(246);
    expect(sink.text.startsWith('data: {"hook_results":{"before_request_hooks":[')).toBe(!strict);
  });
});
