import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const words = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true };

async function ask(path: string, guardrail: JsonObject = words, body = '{"model":"m"}', method = 'POST') {
  const gateway = createHarness({ key: { scopes: ['completions.write'] } });
  gateway.script(replyWith(200, { ok: true }));
  const headers = { 'x-svc-config': JSON.stringify({ provider: 'openai', api_key: 'k', input_guardrails: [guardrail] }) };
  const { status } = await gateway.send({ method, path, headers, body });
  return [status, gateway.calls.length];
}

describe('guardrails of pass-through requests read', () => {
  it.each([
    '/v1/any?q=secret',
    '/v1/any?q=a+secret',
    '/v1/any?q=%73ecret',
    '/v1/any?a%20secret=1',
    '/v1/any?order=a%20secret',
    '/v1/any/a%20secret',
    '/v1/any/a%20secret/x',
  ])('%s', async (path) => {
    expect(await ask(path)).toEqual([446, 0]);
    expect(await ask(path, words, '', 'GET')).toEqual([446, 0]);
    expect(await ask(path.replace(/secret|%73ecret/, 'word'))).toEqual([200, 1]);
  });

  it('no settings, credentials and names', async () => {
    for (const path of ['/v1/any?model=secret&order=secret&limit=1', '/v1/secret', '/v1/any?key=secret']) {
      expect(await ask(path)).toEqual([200, 1]);
    }
  });

  it('an address that a check would change, and deny it if they redact', async () => {
    const redacts = { 'svc.pii': { redact: true, categories: ['EMAIL_ADDRESS'] } };
    expect(await ask('/v1/any?q=ada@example.com', redacts)).toEqual([446, 0]);
    expect((await ask('/v1/any?q=ada', redacts))[0]).toBe(200);
  });
});

describe('guardrails of a typed route', () => {
  const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
  const route = '/v1/chat/completions';

  it.each(['?q=a+secret', '?a%20secret=1', '?beta=a%20secret'])('read a text in the query %s', async (query) => {
    expect(await ask(route + query, words, chat)).toEqual([446, 0]);
    expect(await ask(route + query.replace('secret', 'word'), words, chat)).toEqual([200, 1]);
  });

  it('read no single word of the query', async () => {
    expect(await ask(`${route}?api-version=secret`, words, chat)).toEqual([200, 1]);
  });

  it('deny an address that a check would change', async () => {
    const redacts = { 'svc.pii': { redact: true, categories: ['EMAIL_ADDRESS'] } };
    expect(await ask(`${route}?q=to%20ada@example.com`, redacts, chat)).toEqual([446, 0]);
    expect((await ask(`${route}?q=to%20ada`, redacts, chat))[0]).toBe(200);
  });

  it('is judged by the form of its messages, not by texts in the query', async () => {
    const demands = { 'default.contains': { words: ['approved'], operator: 'any' }, deny: true };
    const isWord = { 'default.regexMatch': { rule: '^[a-z]+$' }, deny: true };
    expect(await ask(`${route}?q=it+is+approved`, demands, chat)).toEqual([446, 0]);
    expect(await ask(`${route}?include[]=usage`, isWord, chat)).toEqual([200, 1]);
  });
});
