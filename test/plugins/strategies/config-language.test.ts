import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, createHarness, type Harness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

const chat = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };
const send = (gateway: Harness, config: JsonObject, more: Parameters<Harness['send']>[0] = {}) =>
  gateway.send({ body: chat, ...more, headers: { 'x-svc-config': JSON.stringify(config), ...more.headers } });
const indexOf = (reply: Awaited<ReturnType<typeof send>>) => reply.header('x-svc-last-used-option-index');
const good = replyWith(200, chatReply('ok'));

describe('conditions', () => {
  const byQuery = (query: JsonObject) => ({
    strategy: { mode: 'conditional', conditions: [{ query, then: 'a' }], default: 'b' },
    targets: [
      { name: 'a', provider: '@one' },
      { name: 'b', provider: '@two' },
    ],
  });

  it('read the text fields of forms', async () => {
    const form = (language: string) =>
      ['model', 'language']
        .map(
          (name) =>
            `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${name === 'model' ? 'whisper-1' : language}\r\n`,
        )
        .concat('--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF\r\n--b--\r\n')
        .join('');
    const gateway = createHarness();
    gateway.script(replyWith(200, { text: 'hello' }));
    const path = '/v1/audio/transcriptions';
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const config = byQuery({ 'params.language': 'de' });
    expect(indexOf(await send(gateway, config, { path, headers, body: form('de') }))).toBe('config.targets[0]');
    expect(indexOf(await send(gateway, config, { path, headers, body: form('fr') }))).toBe('config.targets[1]');
  });

  it('read elements of lists with and without brackets', async () => {
    const gateway = createHarness();
    for (const field of ['params.messages[0].role', 'params.messages.0.role']) {
      gateway.script(good, good);
      expect(indexOf(await send(gateway, byQuery({ [field]: 'user' })))).toBe('config.targets[0]');
      expect(indexOf(await send(gateway, byQuery({ [field]: 'system' })))).toBe('config.targets[1]');
    }
  });

  it('on tokens.input use an estimate for short texts, and a count for long ones', async () => {
    const config = byQuery({ 'tokens.input': { $gte: 1500 } });
    const ask = async (content: string) => {
      const gateway = createHarness();
      return indexOf(await send(gateway, config, { body: { ...chat, messages: [{ role: 'user', content }] } }));
    };
    // 4,000 characters are taken for 1,000 tokens; the harness counts words.
    expect(await ask('a '.repeat(2000))).toBe('config.targets[1]');
    expect(await ask('a '.repeat(2100))).toBe('config.targets[0]');
    expect(await ask('a'.repeat(8000))).toBe('config.targets[1]');
  });
});

describe('a target’s own on_status_codes', () => {
  it('replace those of the strategy in a fallback', async () => {
    const config = {
      strategy: { mode: 'fallback', on_status_codes: [429] },
      targets: [{ provider: '@one', on_status_codes: [500] }, { provider: '@two' }, { provider: '@one' }],
    };
    const gateway = createHarness();
    gateway.script(replyWith(500, {}), replyWith(429, {}), good);
    expect(indexOf(await send(gateway, config))).toBe('config.targets[2]');
    gateway.script(replyWith(429, {}));
    expect(indexOf(await send(gateway, config))).toBe('config.targets[0]');
  });
});

describe('metadata of a config', () => {
  it('is in the record of its target’s requests, overridden by the request’s own', async () => {
    const config = {
      metadata: { env: 'prod', team: 'config' },
      strategy: { mode: 'fallback' },
      targets: [
        { provider: '@one', metadata: { tier: 'first' } },
        { provider: '@two', metadata: { env: 'spare' } },
      ],
    };
    const gateway = createHarness();
    gateway.script(replyWith(500, {}), good);
    await send(gateway, config, { headers: { 'x-svc-metadata': '{"team":"red"}' } });
    expect(gateway.records[0]?.metadata).toEqual({ env: 'spare', team: 'red' });
  });
});

describe('configs without a strategy', () => {
  it('act like single: only the first target is called, with inherited fields', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(503, {}), replyWith(500, {}));
    const reply = await send(gateway, {
      retry: { attempts: 1, on_status_codes: [503] },
      metadata: { n: 1 },
      targets: [{ provider: '@one' }, { provider: '@two' }],
    });
    expect([reply.status, indexOf(reply), gateway.calls.length]).toEqual([500, 'config.targets[0]', 2]);
    expect(gateway.records[0]?.metadata).toEqual({ n: '1' });
  });

  it('have unused fields listed by explain', async () => {
    const config = {
      weight: 2,
      targets: [
        { strategy: { mode: 'single' }, provider: '@one', weight: 1 },
        { provider: '@two', on_status_codes: [500] },
      ],
    };
    const gateway = createHarness({ key: { scopes: ['completions.write', 'configs.read'] } });
    const reply = await gateway.send({
      path: '/v1/configs/explain',
      body: { config, request: { body: chat, metadata: { n: 1 } } },
    });
    expect(reply.json).toMatchObject({
      warnings: [
        'config.weight: no effect here; only targets of loadbalance use it',
        'config.targets[0].weight: no effect here; only targets of loadbalance use it',
        'config.targets[1].on_status_codes: no effect here; only targets of fallback use it',
        'config.targets[1]: never used; the strategy single uses the first target only',
      ],
    });
  });
});

describe('strict_params', () => {
  const lossy = { body: { ...chat, logit_bias: { 1: 1 } } };

  it('rejects with 400 what the provider does not support, before a call', async () => {
    const gateway = createHarness();
    const reply = await send(gateway, { provider: '@claude', strict_params: true }, lossy);
    expect([reply.status, gateway.calls.length]).toEqual([400, 0]);
    expect(reply.text).toContain('strict_params: anthropic does not support logit_bias');
  });

  it('lets a fallback continue with a target that supports it', async () => {
    const config = {
      strict_params: true,
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@claude' }, { provider: '@one' }],
    };
    expect(indexOf(await send(createHarness(), config, lossy))).toBe('config.targets[1]');
  });
});

describe('passthrough', () => {
  const config = {
    strategy: { mode: 'fallback' },
    provider: '@one',
    targets: [{ provider: '@claude' }, { passthrough: true }],
  };

  it('uses the provider of the request, not of the parent', async () => {
    const gateway = createHarness();
    gateway.script(replyWith(500, {}), good);
    await send(gateway, config, { headers: { 'x-svc-provider': '@two' } });
    expect(gateway.records[0]?.attempts.map((attempt) => attempt.providerSlug)).toEqual(['claude', 'two']);
  });

  it('is rejected if the request names none', async () => {
    const reply = await send(createHarness(), config);
    expect([reply.status, reply.text.includes('x-svc-provider')]).toEqual([400, true]);
  });
});
