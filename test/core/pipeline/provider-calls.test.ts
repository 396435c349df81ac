import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type CoreServices, defineCorePlugin } from '../../../core/contract/plugin/core-plugin.ts';
import type { ProviderCall } from '../../../core/contract/plugin/services/provider-call.ts';
import type { ProviderDocument, RateLimitDocument } from '../../../core/contract/protocol/documents.ts';
import { realClock } from '../../../core/contract/values/time/clock.ts';
import { startLeases } from '../../../core/leases/start-leases.ts';
import { guardPlugin } from '../../../core/plugin-host/guard-plugin.ts';
import {
  chatReply,
  createHarness,
  type Harness,
  replyWith,
  type Script,
  workspaceId,
} from '../../../core/test-kit/pipeline-harness.ts';
import { firstHolder, newFakeLedger } from '../../support/fakes/fake-ledger.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

const embedding = {
  object: 'list',
  data: [{ index: 0, embedding: [1, 0] }],
  model: 'e',
  usage: { prompt_tokens: 3, total_tokens: 3 },
};
const embeds: Omit<ProviderCall, 'request'> = {
  purpose: 'semantic-cache',
  operation: 'embed',
  provider: '@two',
  params: { model: 'text-embedding-3-small', input: 'hello' },
  timeoutMs: 5_000,
};

/** A gateway with a plugin that makes one call for each request of a client, and replies with its result. */
function calling(call: Partial<ProviderCall> = {}, options: Parameters<typeof createHarness>[0] = {}): Harness {
  const plugin = defineCorePlugin({
    name: 'caller',
    stage: 'cache',
    config: v.optional(v.strictObject({})),
    onConfig: (_config, _scope, services) => ({
      async onRequest(request) {
        const result = await services
          .callProvider({ ...embeds, request, ...call })
          .catch((error: { code: string; message: string }) => ({ code: error.code, message: error.message }));
        return { status: 200, headers: [], body: JSON.stringify(result) };
      },
    }),
  });
  return createHarness({ ...options, plugins: [...(options.plugins ?? []), plugin as never] });
}

const config = { 'x-svc-config': '{"provider":"@one"}' };

describe('calls that the gateway makes to providers', () => {
  it('go to the stored provider with its credential, and return its reply', async () => {
    const gateway = calling();
    gateway.script(replyWith(200, embedding));
    const reply = await gateway.send({ headers: { ...config, authorization: 'Bearer sk-of-the-client' } });
    expect(reply.json).toMatchObject({ data: [{ embedding: [1, 0] }] });
    expect(gateway.calls).toHaveLength(1);
    expect(gateway.calls[0]).toMatchObject({ method: 'POST', path: '/v1/embeddings' });
    const { headers } = gateway.calls[0] as { headers: string[] };
    expect(headers).toContain('Bearer sk-stored');
    expect(JSON.stringify(headers)).not.toContain('sk-of-the-client');
  });

  it('leave a record of their own with usage, caller, trace id, metadata and purpose', async () => {
    const gateway = calling();
    gateway.script(replyWith(200, embedding));
    await gateway.send({ headers: { ...config, 'x-svc-trace-id': 't-1', 'x-svc-metadata': '{"team":"a"}' } });
    const [own, request] = gateway.records;
    expect(own).toMatchObject({
      ...{ purpose: 'semantic-cache', endpoint: 'embed', providerSlug: 'two', model: 'text-embedding-3-small', inputTokens: 3 },
      ...{ traceId: 't-1', metadata: { team: 'a' }, outcome: 'success', cacheStatus: null },
    });
    expect(own?.apiKeyId).toBe(request?.apiKeyId);
    expect(own?.workspaceId).toBe(request?.workspaceId);
    expect(own?.id).not.toBe(request?.id);
    expect(request?.purpose).toBeUndefined();
  });

  it('run no guardrail, no cache and no third-party plugin', async () => {
    const seen: string[] = [];
    const third = guardPlugin(
      {
        apiVersion: 1,
        name: 'third',
        stage: 'limits',
        onConfig: () => ({ onRequest: ({ id }) => void seen.push(id) }),
      },
      { hookTimeoutMs: 1000 },
    );
    const params = { model: 'm', messages: [{ role: 'user', content: 'forbidden' }] };
    const gateway = calling({ operation: 'chatComplete', params }, { plugins: [third] });
    gateway.script(replyWith(200, chatReply('fine')));
    const checked = JSON.stringify({
      provider: '@one',
      cache: 'simple',
      input_guardrails: [{ 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true }],
    });
    const reply = await gateway.send({ headers: { 'x-svc-config': checked } });
    expect(reply.json).toMatchObject({ choices: [{ message: { content: 'fine' } }] });
    const [own, request] = gateway.records;
    expect(own).toMatchObject({ endpoint: 'chatComplete', outcome: 'success', cacheStatus: null });
    expect(own?.guardrails).toBeUndefined();
    expect(seen).toEqual([request?.id]);
  });

  const limited = (rateLimits: RateLimitDocument[]) => {
    const ledger = newFakeLedger();
    const leases = startLeases({ fetch: ledger.fetch, clock: realClock, log: newMemoryLog(), newId: randomUUID, ...firstHolder });
    return { leases, key: { rateLimits } };
  };

  it('use no unit of the rate limits of the caller', async () => {
    const gateway = calling({}, limited([{ type: 'requests', unit: 'rpd', value: 2 }]));
    gateway.script(replyWith(200, embedding));
    const replies = [await gateway.send({ headers: config }), await gateway.send({ headers: config })];
    for (const { json } of replies) expect(json).toMatchObject({ data: [{ embedding: [1, 0] }] });
    expect((await gateway.send({ headers: config })).status).toBe(429);
  });

  it('are rejected by the limits of their provider', async () => {
    const gateway = calling({}, limited([]));
    const id = `provider ${workspaceId}/two`;
    const document = gateway.documents.get(id) as ProviderDocument;
    gateway.documents.set(id, { ...document, rateLimits: [{ type: 'requests', unit: 'rpd', value: 0 }] });
    expect((await gateway.send({ headers: config })).json).toMatchObject({ code: 'upstream_status' });
    expect(gateway.calls).toHaveLength(0);
    expect(gateway.records[0]).toMatchObject({ errorCode: 'provider_rate_limit', purpose: 'semantic-cache' });
  });

  it.each([
    [
      'an error of the provider',
      replyWith(500, { error: { message: 'secret text of the prompt' } }),
      { code: 'upstream_status' },
    ],
    ['a reply that is no JSON object', replyWith(200, [] as never), { code: 'upstream_status' }],
  ])('fail with %s, without its text', async (_what, script, expected) => {
    const gateway = calling();
    gateway.script(script as Script);
    const reply = await gateway.send({ headers: config });
    expect(reply.json).toMatchObject(expected);
    expect(reply.text).not.toContain('secret text');
  });

  it('fail with the timeout of the call', async () => {
    const gateway = calling({ timeoutMs: 20 });
    gateway.script(() => {});
    expect((await gateway.send({ headers: config })).json).toMatchObject({ code: 'request_timeout' });
  });

  it('fail for a provider that the workspace lacks', async () => {
    const gateway = calling({ provider: '@nowhere' });
    expect((await gateway.send({ headers: config })).json).toMatchObject({ code: 'upstream_status' });
    expect(gateway.calls).toHaveLength(0);
    expect(gateway.records[0]).toMatchObject({ errorCode: 'invalid_provider', purpose: 'semantic-cache' });
  });

  it('are not among the services of third-party plugins', () => {
    let given: object = {};
    const plugin = guardPlugin(
      {
        apiVersion: 1,
        name: 'third',
        stage: 'limits',
        onConfig(_config, _scope, services) {
          given = services;
          return null;
        },
      },
      { hookTimeoutMs: 1000 },
    );
    createHarness({ plugins: [plugin] }).plans.check({});
    expect(Object.keys(given)).toContain('fetch');
    expect((given as Partial<CoreServices>).callProvider).toBeUndefined();
  });
});
