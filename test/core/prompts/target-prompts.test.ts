import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, type Harness, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { messages, samplePrompt } from '../../support/samples/sample-prompts.ts';

import { bodyOf, harness, messageOf } from './prompt-harness.ts';

describe('prompt_id of targets', () => {
  const config = (...targets: object[]) => ({ 'x-svc-config': JSON.stringify({ strategy: { mode: 'fallback' }, targets }) });
  const ask = (gateway: Harness, headers: Record<string, string>, body: JsonObject = { variables: { name: 'Ann' }, top_p: 1 }) =>
    gateway.send({ path: '/v1/prompts/pp-chat/completions', headers, body });

  test('a target sends its own prompt, with the parameters of the request and its overrides', async () => {
    const gateway = harness();
    gateway.script(replyWith(500, {}), replyWith(200, chatReply('ok')));
    const reply = await ask(
      gateway,
      config({ prompt_id: 'pp-other@latest', override_params: { max_tokens: 7 } }, { virtual_key: 'two' }),
    );
    expect(reply.status).toBe(200);
    expect(gateway.calls.map((_, i) => bodyOf(gateway, i))).toEqual([
      { model: 'm-other', top_p: 1, max_tokens: 7, messages: [{ role: 'user', content: 'other Ann' }] },
      {
        ...{ model: 'm-saved', temperature: 0.2, max_tokens: 100, top_p: 1 },
        messages: [
          { role: 'system', content: 'You help Ann.' },
          { role: 'user', content: 'Hello, Ann!' },
        ],
      },
    ]);
    expect(gateway.records[0]).toMatchObject({
      attempts: [{ providerSlug: 'one' }, { providerSlug: 'two' }],
      promptSlug: 'pp-chat',
    });
  });

  test('guardrails check the prompt of each target', async () => {
    const rule = { id: 'g', 'default.contains': { operator: 'none', words: ['other'] }, deny: true };
    const headers = {
      'x-svc-config': JSON.stringify({
        strategy: { mode: 'fallback' },
        input_guardrails: [rule],
        targets: [{ prompt_id: 'pp-other' }, {}],
      }),
    };
    const gateway = harness();
    const reply = await ask(gateway, headers);
    expect([reply.status, gateway.calls.length]).toEqual([200, 1]);
    expect(bodyOf(gateway).model).toBe('m-saved');
  });

  test('cached replies belong to the prompts of all targets', async () => {
    const gateway = harness();
    const headers = { ...config({ prompt_id: 'pp-other' }, {}), 'x-svc-cache': 'simple' };
    const status = async () => (await ask(gateway, headers)).header('x-svc-cache-status');
    expect([await status(), await status()]).toEqual(['MISS', 'HIT']);
    const changed = samplePrompt('pp-other', [{ template: messages('changed') }]);
    gateway.documents.set(`prompt ${workspaceId}/pp-other`, changed);
    expect(await status()).toBe('MISS');
  });

  test.each<[string, string, Record<string, string>, string]>([
    [
      'unknown prompts',
      '/v1/prompts/pp-chat/completions',
      config({ prompt_id: 'pp-none' }),
      'Following prompt_id are not valid: pp-none',
    ],
    [
      'a text for a chat',
      '/v1/prompts/pp-chat/completions',
      config({ prompt_id: 'pp-text' }),
      'must both have messages, or both a text',
    ],
    ['another route', '/v1/chat/completions', config({ prompt_id: 'pp-chat' }), 'prompt_id is for requests to /v1/prompts'],
    ['a wrong reference', '/v1/prompts/pp-chat/completions', config({ prompt_id: 'a b' }), 'targets[0].prompt_id'],
  ])('%s', async (_name, path, headers, message) => {
    const reply = await harness().send({ path, headers, body: { model: '@one/m', messages: [] } });
    expect([reply.status, messageOf(reply)]).toEqual([400, expect.stringContaining(message)]);
  });
});
