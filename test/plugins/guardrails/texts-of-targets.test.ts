import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const none = [{ 'default.contains': { words: ['secret'], operator: 'none', scope: 'all_messages' }, deny: true }];
const said = (content: string) => [{ role: 'user', content }];

async function ask(config: JsonObject) {
  const gateway = createHarness();
  gateway.script(replyWith(200, { ok: true }));
  const headers = { 'x-svc-config': JSON.stringify(config) };
  const body = { model: 'm', messages: said('x') };
  const { status } = await gateway.send({ path: '/v1/chat/completions', headers, body });
  return { status, sent: gateway.calls.map((call) => JSON.parse(String(call.body)) as JsonObject) };
}

describe('texts that a target sets', () => {
  it.each<[string, (text: string) => JsonObject]>([
    ['override_params', (text) => ({ override_params: { messages: said(text) } })],
    ['override_params with a field of another format', (text) => ({ override_params: { contents: [{ parts: [{ text }] }] } })],
    ['default_params', (text) => ({ default_params: { system_prompt: text } })],
    ['a field of override_params that no format has', (text) => ({ override_params: { guided: { choice: [text] } } })],
    ['a field of default_params that no format has', (text) => ({ default_params: { stop: text } })],
    ['a setting of several words', (text) => ({ override_params: { reasoning_effort: text } })],
  ])('%s are checked', async (_name, paramsOf) => {
    for (const wrap of [(one: JsonObject) => one, (one: JsonObject) => ({ strategy: { mode: 'fallback' }, targets: [one] })]) {
      const config = (text: string) => ({ ...wrap({ provider: '@one', ...paramsOf(text) }), input_guardrails: none });
      const denied = await ask(config('a secret'));
      expect([denied.status, denied.sent]).toEqual([446, []]);
      expect((await ask(config('a word'))).status).toBe(200);
    }
  });

  it('token ids that a target sets cannot be checked', async () => {
    const of = (override_params: JsonObject) => ({ provider: '@one', override_params, input_guardrails: none });
    expect(await ask(of({ prompt_token_ids: [1, 2] }))).toEqual({ status: 446, sent: [] });
    expect((await ask(of({ max_tokens: 2 }))).status).toBe(200);
  });

  it('a target whose own text would undo a replacement is denied', async () => {
    const input_guardrails = [{ 'default.regexReplace': { rule: 'secret', redactText: '***' } }];
    const of = (text: string) => ({ provider: '@one', override_params: { messages: said(text) }, input_guardrails });
    expect(await ask(of('a secret'))).toEqual({ status: 446, sent: [] });
    expect((await ask(of('a word'))).status).toBe(200);
  });

  it('a default that is redacted is sent redacted', async () => {
    const check = { rule: 'secret', redactText: '***', scope: 'all_messages' };
    const config = {
      provider: '@one',
      default_params: { system_prompt: 'a secret' },
      input_guardrails: [{ 'default.regexReplace': check }],
    };
    const { status, sent } = await ask(config);
    expect([status, sent[0]?.system_prompt]).toEqual([200, 'a ***']);
  });
});
