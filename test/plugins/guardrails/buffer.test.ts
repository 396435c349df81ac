import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { createHarness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../core/test-kit/provider-scripts.ts';

const deny = { 'default.contains': { words: ['secret'], operator: 'none' }, deny: true };
const replace = { 'default.regexReplace': { rule: '/secret/g', redactText: '***' } };
const logprobs = { content: [{ token: 'secret' }] };

async function ask(config: JsonObject, script: Script, stream: boolean) {
  const gateway = createHarness();
  gateway.script(script);
  return gateway.send({
    path: '/v1/chat/completions',
    headers: { 'x-svc-config': JSON.stringify({ provider: '@one', ...config }) },
    body: { model: 'm', stream, messages: [{ role: 'user', content: 'hi' }] },
  });
}

const chunk = (delta: JsonObject, finish_reason: string | null = null, more: JsonObject = {}) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason, ...more }] })}\n\n`;
const end = [chunk({}, 'stop'), 'data: [DONE]\n\n'];

describe('a held chat stream whose content comes as lists of parts', () => {
  const script = streamOf([
    chunk({ content: [{ type: 'text', text: 'a sec' }] }),
    chunk({ content: [{ type: 'text', text: 'ret!' }] }),
    ...end,
  ]);

  it('is denied if its text is', async () => {
    const sink = await ask({ output_guardrails: [deny] }, script, true);
    expect(sink.status).toBe(446);
    expect(sink.text).not.toContain('ret!');
  });

  it('is sent with its text replaced', async () => {
    const sink = await ask({ output_mutators: [replace] }, script, true);
    expect(sink.status).toBe(200);
    expect(sink.text).toContain('a ***!');
    expect(sink.text).not.toMatch(/sec|ret/);
  });
});

describe('a reply whose text was replaced', () => {
  it('has no probabilities of tokens, plain', async () => {
    const message = { role: 'assistant', content: 'a secret' };
    const body = { id: 'c', object: 'chat.completion', choices: [{ index: 0, message, logprobs, finish_reason: 'stop' }] };
    const sink = await ask({ output_mutators: [replace] }, replyWith(200, body), false);
    expect((sink.json.choices as JsonObject[])[0]).toMatchObject({ message: { content: 'a ***' }, logprobs: null });
  });

  it('has no probabilities of tokens, held', async () => {
    const script = streamOf([chunk({ content: 'a secret' }, null, { logprobs }), ...end]);
    const sink = await ask({ output_mutators: [replace] }, script, true);
    expect(sink.text).toContain('a ***');
    expect(sink.text).not.toContain('secret');
  });
});
