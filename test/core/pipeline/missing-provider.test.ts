import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, createHarness, type Harness, replyWith, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const chat = { model: 'gpt-5', messages: [] };
const ok = replyWith(200, chatReply('hello'));

function start(config: JsonObject, options: Parameters<typeof createHarness>[0] = {}) {
  const gateway = createHarness(options);
  gateway.addConfig('pc-main', config);
  return { gateway, ask: () => gateway.send({ headers: { 'x-svc-config': 'pc-main' }, body: chat }) };
}

/** Paths of the attempts that called a provider, by how often. */
function calledOf({ records }: Harness): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { targetPath } of records) counts[String(targetPath)] = (counts[String(targetPath)] ?? 0) + 1;
  return counts;
}

describe('a target whose provider does not exist', () => {
  it.each([
    [
      'deleted',
      { provider: '@gone' },
      'Following keys are not valid: gone. The workspace has no provider with this slug. GET /v1/providers lists its providers',
    ],
    ['of an unknown type', { provider: 'no-such-type', api_key: 'k' }, 'no-such-type'],
  ])('is skipped by a fallback with any status codes, and recorded: %s', async (_what, target, name) => {
    const strategy = { mode: 'fallback', on_status_codes: [503] };
    const { gateway, ask } = start({ strategy, targets: [target, { provider: '@two' }] });
    const reply = await ask();
    expect([reply.status, reply.header('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
    expect(gateway.records[0]).toMatchObject({
      outcome: 'success',
      attempts: [
        { targetPath: 'config.targets[0]', provider: target.provider, status: 400, errorCode: 'invalid_provider' },
        { targetPath: 'config.targets[1]', providerSlug: 'two', status: 200, errorCode: null },
      ],
    });
    const alone = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(target) }, body: chat });
    expect(alone.json).toMatchObject({ error: { code: 'invalid_provider', message: expect.stringContaining(name) } });
  });

  it.each([
    ['a slug of the workspace', '@opnai-prod', '; did you mean @openai-prod?'],
    ['nothing for a slug that only another workspace has', '@their-provider', ''],
  ])('leads to a suggestion: %s', async (_what, given, hint) => {
    const gateway = createHarness();
    const list = (id: string, slug: string) =>
      gateway.documents.set(`workspace-models ${id}`, {
        id,
        organisationId: 'o',
        providers: [{ slug, provider: 'openai', models: [] }],
      });
    list(workspaceId, 'openai-prod');
    list('8c1f6f0e-9f0f-4a53-9d5e-3a8f3a2f0009', 'their-providr');
    const reply = await gateway.send({ headers: { 'x-svc-provider': given }, body: chat });
    expect(reply.status).toBe(400);
    const { message } = (reply.json as { error: { message: string } }).error;
    expect(message).toBe(
      `Following keys are not valid: ${given.slice(1)}. The workspace has no provider with this slug. GET /v1/providers lists its providers${hint}`,
    );
  });

  it('does not replace the reply of an earlier provider', async () => {
    const { gateway, ask } = start({ strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@gone' }] });
    gateway.script(replyWith(503, { error: { message: 'too busy' } }));
    const reply = await ask();
    expect([reply.status, reply.header('x-svc-last-used-option-index')]).toEqual([503, 'config.targets[0]']);
    expect(reply.text).toContain('too busy');
    expect(gateway.records[0]).toMatchObject({ outcome: 'failed', targetPath: 'config.targets[0]' });
    expect(gateway.records[0]?.attempts).toHaveLength(2);
  });

  it('is the error if no target is left, and the request counts as rejected', async () => {
    const { gateway, ask } = start({ strategy: { mode: 'fallback' }, targets: [{ provider: '@gone' }, { provider: '@lost' }] });
    const reply = await ask();
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({
      error: {
        code: 'invalid_provider',
        message:
          'Following keys are not valid: gone. The workspace has no provider with this slug. GET /v1/providers lists its providers',
      },
    });
    expect(gateway.records).toMatchObject([
      { outcome: 'refused', attempts: [{ providerSlug: 'gone' }, { providerSlug: 'lost' }] },
    ]);
    expect(gateway.calls).toEqual([]);
  });

  it.each([
    ['weighted', {}],
    ['sticky', { sticky: { enabled: true } }],
    ['round_robin', { algorithm: 'round_robin' }],
    ['least_busy', { algorithm: 'least_busy' }],
    ['least_latency', { algorithm: 'least_latency' }],
  ])('makes a load balancer choose among the others: %s', async (_name, fields) => {
    let turn = 0;
    const targets = [{ provider: '@gone' }, { provider: '@one' }, { provider: '@two' }];
    const strategy = { mode: 'loadbalance', ...fields };
    const { gateway, ask } = start({ strategy, targets }, { random: () => (turn++ % 10) / 10 });
    gateway.script(ok);
    for (let i = 0; i < 30; i++) expect((await ask()).status).toBe(200);
    const called = calledOf(gateway);
    expect(called['config.targets[0]']).toBeUndefined();
    expect((called['config.targets[1]'] ?? 0) + (called['config.targets[2]'] ?? 0)).toBe(30);
  });

  it('is the error of a load balancer without other targets', async () => {
    const { ask } = start({
      strategy: { mode: 'loadbalance' },
      targets: [{ provider: '@gone' }, { provider: '@two', weight: 0 }],
    });
    const reply = await ask();
    expect(reply.json).toMatchObject({
      error: {
        code: 'invalid_provider',
        message:
          'Following keys are not valid: gone. The workspace has no provider with this slug. GET /v1/providers lists its providers',
      },
    });
  });

  it('is skipped inside nested strategies too', async () => {
    const inner = { strategy: { mode: 'fallback' }, targets: [{ provider: '@gone' }, { provider: '@lost' }] };
    const { gateway, ask } = start({ strategy: { mode: 'loadbalance' }, targets: [inner, { provider: '@two' }] });
    const reply = await ask();
    expect([reply.status, gateway.records[0]?.attempts.length]).toEqual([200, 3]);
  });

  it('does not make a load balancer choose again after a real failure', async () => {
    const { gateway, ask } = start({ strategy: { mode: 'loadbalance' }, targets: [{ provider: '@one' }, { provider: '@two' }] });
    gateway.script(replyWith(500, 'no'));
    expect((await ask()).status).toBe(500);
    expect(gateway.calls).toHaveLength(1);
  });
});

describe('a virtual key with a provider type', () => {
  function withStored(): Harness {
    const gateway = createHarness();
    gateway.script(ok);
    return gateway;
  }
  const asked = async (gateway: Harness, headers: Record<string, string>) => {
    const reply = await gateway.send({ headers, body: chat });
    return [
      reply.status,
      gateway.records.at(-1)?.providerSlug,
      JSON.stringify(gateway.calls.at(-1)?.headers).includes('sk-stored'),
    ];
  };

  it.each([
    ['as headers', { 'x-svc-provider': 'openai', 'x-svc-virtual-key': 'one' }],
    ['with its @', { 'x-svc-provider': 'openai', 'x-svc-virtual-key': '@one' }],
    ['in an inline config', { 'x-svc-config': '{"provider":"openai","virtual_key":"one"}' }],
    [
      'in a target',
      {
        'x-svc-config':
          '{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","virtual_key":"one"},{"provider":"@two"}]}',
      },
    ],
  ])('uses the credential of the virtual key: %s', async (_where, headers) => {
    expect(await asked(withStored(), headers)).toEqual([200, 'one', true]);
  });

  it('loses against a stored provider', async () => {
    expect((await asked(withStored(), { 'x-svc-provider': '@two', 'x-svc-virtual-key': 'one' }))[1]).toBe('two');
  });
});

describe('a request without a provider', () => {
  const required = 'Either x-svc-config or x-svc-provider header is required, or a model of the form @provider-slug/model';
  it.each([
    ['gpt-5', ''],
    ['openai-prod/gpt-5', '. If openai-prod is a stored provider, put @ in front of the model: @openai-prod/gpt-5'],
    ['a provider/gpt-5', ''],
  ])('names the form of the model: %s', async (model, hint) => {
    const { send, key } = createHarness();
    const reply = await send({ headers: { 'x-svc-api-key': key }, body: { ...chat, model } });
    expect([reply.status, reply.json]).toMatchObject([400, { error: { code: 'missing_provider', message: required + hint } }]);
  });

  it.each([
    ['POST', '/v1/messages/batches', { requests: [{ custom_id: 'a', params: { model: '@two/claude' } }] }],
    ['POST', '/v1/proxy/v1/chat/completions', { ...chat, model: '@two/gpt-5' }],
    ['GET', '/v1/responses/resp_1', undefined],
  ])('is not advised to name a model if none chooses the provider: %s %s', async (method, path, body) => {
    const { send, key } = createHarness();
    const reply = await send({ method, path, headers: { 'x-svc-api-key': key }, ...(body && { body }) });
    expect(reply.json).toMatchObject({
      error: {
        code: 'missing_provider',
        message:
          'Either x-svc-config or x-svc-provider header is required: a model in the body does not choose the provider on this route',
      },
    });
  });
});
