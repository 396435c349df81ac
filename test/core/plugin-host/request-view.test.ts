import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import {
  type Hooks,
  hookNames,
  type Plugin,
  type PluginContext,
  type Services,
  type Slot,
  stages,
} from '../../../core/contract/plugin/plugin.ts';
import { emptyUsage } from '../../../core/contract/values/models/usage.ts';
import { guardPlugin } from '../../../core/plugin-host/guard-plugin.ts';
import { hiddenNames } from '../../../core/plugin-host/hidden-names.ts';
import { viewOf } from '../../../core/plugin-host/request-view.ts';
import { chatReply, createHarness, type FakeRequest, replyWith } from '../../../core/test-kit/pipeline-harness.ts';

type OnConfig = (services: Services, scope: Parameters<Plugin['onConfig']>[1]) => Hooks;

function pluginOf(onConfig: OnConfig, more: Partial<Plugin> = {}) {
  const plugin: Plugin = {
    apiVersion: 1,
    name: 'curious',
    stage: 'limits',
    onConfig: (_, scope, services) => onConfig(services, scope),
    ...more,
  };
  return guardPlugin(plugin, { hookTimeoutMs: 1000 });
}

const chat: Partial<FakeRequest> = {
  method: 'POST',
  path: '/v1/chat/completions',
  headers: { 'x-svc-provider': 'openai' },
  body: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
};

/** Every text that can be reached from a value: members, own or inherited, entries of maps, and results of `toJSON` and `reveal`. */
function textsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString()];
  if (value === null || typeof value !== 'object' || seen.has(value)) return [];
  seen.add(value);
  if (value instanceof Map) return textsIn([...value], seen);
  const texts: string[] = [];
  for (let at: object | null = value; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Reflect.ownKeys(at)) {
      if (typeof name === 'string') texts.push(name);
      const member = (value as Record<string | symbol, unknown>)[name];
      texts.push(...textsIn(name === 'reveal' ? (member as () => string).call(value) : member, seen));
    }
  }
  return texts;
}

const secrets = {
  providerKey: 'sk-of-the-provider-1',
  accessKey: 'AKIA-of-aws-2',
  secretKey: 'secret-of-aws-3',
  account: 'key-of-a-service-account-4',
  inlineKey: 'sk-of-an-inline-config-5',
  hookToken: 'token-of-a-webhook-6',
  cookie: 'cookie-of-a-session-7',
  goog: 'google-key-8',
  own: 'credential-of-the-company-9',
};

const inlineConfig = {
  provider: 'openai',
  api_key: secrets.inlineKey,
  input_guardrails: [
    { 'default.webhook': { webhookURL: 'https://hook.example', headers: { authorization: secrets.hookToken } } },
  ],
};

const headersWithSecrets = {
  authorization: `Bearer ${secrets.providerKey}`,
  cookie: secrets.cookie,
  'x-goog-api-key': secrets.goog,
  'x-company-auth': secrets.own,
  'x-svc-aws-access-key-id': secrets.accessKey,
  'x-svc-aws-secret-access-key': secrets.secretKey,
  'x-other-vertex-service-account-json': JSON.stringify({ private_key: secrets.account }),
  'x-svc-trace-id': 'trace-1',
  'x-team': 'search',
};

describe('plugins see a request without credentials', () => {
  it.each(stages)('in every hook of the stage %s', async (stage) => {
    const reached = new Map<string, string[]>();
    const hooks = Object.fromEntries(
      hookNames.map((name) => [
        name,
        (...given: unknown[]) => {
          reached.set(name, [...(reached.get(name) ?? []), ...textsIn(given)]);
          return name === 'onChunk' ? given[1] : undefined;
        },
      ]),
    ) as Hooks;
    const plugin = pluginOf(
      (_, scope) => {
        reached.set('onConfig', [...(reached.get('onConfig') ?? []), ...textsIn(scope)]);
        return hooks;
      },
      { stage, reads: { response: 'body' } },
    );
    const harness = createHarness({ plugins: [plugin], services: refusing });
    harness.script(replyWith(200, chatReply('hello')));
    const requests: Partial<FakeRequest>[] = [
      { ...chat, headers: { ...headersWithSecrets, 'x-svc-provider': 'openai' } },
      { ...chat, headers: { ...headersWithSecrets, 'x-svc-config': JSON.stringify(inlineConfig) } },
      {
        method: 'POST',
        path: `/v1/proxy/models/m:generate?alt=sse&key=${secrets.goog}&access%5Ftoken=${secrets.own}`,
        headers: { ...headersWithSecrets, 'x-svc-provider': '@one' },
        body: {},
      },
      {
        method: 'POST',
        path: '/v1/fine_tuning/jobs',
        headers: {},
        body: {
          model: 'm',
          training_file: 'f',
          svc_options: { provider: 'openai', authorization: `Bearer ${secrets.providerKey}`, aws_session_token: secrets.own },
        },
      },
      {
        method: 'POST',
        path: '/v1/configs/explain',
        headers: {},
        body: { config: inlineConfig, request: { headers: { authorization: secrets.providerKey } } },
      },
    ];
    for (const request of requests) await harness.send(request);
    const called = harness.calls.map(({ headers }) => headers.join(' '));
    expect(called.join(' ')).toContain(secrets.providerKey);
    expect([...reached.keys()]).toEqual(expect.arrayContaining(['onConfig', 'onRequest', 'onEnd']));
    for (const [hook, texts] of reached) {
      const all = texts.join('\n');
      for (const secret of [...Object.values(secrets), harness.key]) expect([hook, all.includes(secret)]).toEqual([hook, false]);
    }
    expect(reached.get('onEnd')).toEqual(expect.arrayContaining(['x-team', 'search', 'trace-1', 'alt=sse']));
  });

  it('has no way to the request through its class', async () => {
    const reached: unknown[] = [];
    const harness = createHarness({
      plugins: [
        pluginOf(() => ({
          onRequest(ctx) {
            const members = ctx.constructor as unknown as Record<string, unknown>;
            for (const name of Object.getOwnPropertyNames(members)) {
              const member = name === 'prototype' ? null : members[name];
              if (typeof member === 'function') reached.push(member(ctx));
            }
          },
        })),
      ],
    });
    await harness.send({ ...chat, headers: { 'x-svc-provider': '@one' } });
    expect(reached).toEqual([]);
  });

  it('has no key of the gateway under a harmless name', async () => {
    const seen: string[] = [];
    const key = `svc_ws_${'a'.repeat(12)}_${'b'.repeat(46)}`;
    const harness = createHarness({
      plugins: [pluginOf(() => ({ onRequest: ({ request }) => void seen.push(request.query, ...request.headers) }))],
    });
    await harness.send({
      method: 'POST',
      path: `/v1/proxy/models?a=1&q=${key}&r=svc%5Fws${key.slice(6)}`,
      headers: { 'x-svc-provider': '@one', 'x-team': key, 'x-svc-user': `Bearer ${key}` },
      body: {},
    });
    expect(seen[0]).toBe('a=1');
    expect(seen.join()).not.toContain(key);
  });

  it('has the other headers and options of the request', async () => {
    const seen: unknown[] = [];
    const harness = createHarness({
      plugins: [
        pluginOf(() => ({
          onRequest({ request, gatewayHeaders, identity, model }: PluginContext) {
            seen.push(request.header('X-Team'), request.header('authorization'), request.headers.includes('x-team'));
            seen.push(gatewayHeaders.get('trace-id'), gatewayHeaders.has('aws-access-key-id'), identity?.keyId === null, model);
          },
        })),
      ],
    });
    await harness.send({ ...chat, headers: { ...headersWithSecrets, 'x-svc-provider': '@one' } });
    expect(seen).toEqual(['search', undefined, true, 'trace-1', false, false, 'm']);
  });
});

describe('changes of a request by a plugin', () => {
  it('metadata and parameters reach the provider and the record', async () => {
    const harness = createHarness({
      plugins: [
        pluginOf(() => ({
          onRequest(ctx) {
            ctx.metadata = { ...ctx.metadata, tag: 'blue' };
            ctx.params = { ...ctx.params, model: 'other' };
            ctx.bodyChanged = true;
          },
        })),
      ],
    });
    await harness.send({ ...chat, headers: { 'x-svc-provider': '@one' } });
    expect(JSON.parse(String(harness.calls[0]?.body))).toMatchObject({ model: 'other' });
    expect(harness.records).toMatchObject([{ metadata: { tag: 'blue' }, model: 'other' }]);
  });

  it('values that a plugin changes in place reach the provider, also in a long request that loses its slug', async () => {
    const add = (ctx: PluginContext) =>
      void (ctx.params?.messages as unknown[] | undefined)?.push({ role: 'user', content: 'added' });
    for (const length of [10, 10_000]) {
      const harness = createHarness({ plugins: [pluginOf(() => ({ onRequest: add }))] });
      const messages = [{ role: 'user', content: 'a'.repeat(length) }];
      await harness.send({ ...chat, body: { model: '@one/m', messages } });
      expect(String(harness.calls[0]?.body)).toContain('added');
    }
  });

  it.each([
    ['a field that is for reading', (ctx: never) => Object.assign(ctx, { identity: null }), 'identity'],
    ['metadata that are no texts', (ctx: never) => Object.assign(ctx, { metadata: { n: 1 } }), 'ctx.metadata: expected'],
    ['parameters that are no object', (ctx: never) => Object.assign(ctx, { params: [] }), 'ctx.params: expected'],
  ])('%s is a 500 that names the plugin and the field', async (_, change, reason) => {
    const harness = createHarness({ plugins: [pluginOf(() => ({ onRequest: (ctx) => void change(ctx as never) }))] });
    const sink = await harness.send({ ...chat, headers: { 'x-svc-provider': '@one' } });
    expect(sink.status).toBe(500);
    expect(JSON.stringify(harness.logs)).toContain('plugin curious, onRequest: ');
    expect(JSON.stringify(harness.logs)).toContain(reason);
  });

  it.each<[string, (ctx: Changeable, services: Services, target: Changeable) => unknown]>([
    ['the identity', (ctx) => Object.assign(ctx.identity, { workspaceId: 'other' })],
    ['the scopes of the identity', (ctx) => ctx.identity.scopes.add('completions.write')],
    ['the default metadata of the key', (ctx) => Object.assign(ctx.identity.defaults.metadata, { team: 'other' })],
    ['the metadata', (ctx) => Object.assign(ctx.metadata, { team: 5 })],
    ['the route', (ctx) => Object.assign(ctx.endpoint, { name: 'embed' })],
    ['the settings of a target', (_, __, target) => Object.assign(target.overrideParams, { model: 'other' })],
    [
      'a document',
      async (ctx, { documents }) =>
        Object.assign((await documents.get('workspace', ctx.identity.workspaceId)) as object, { id: 'other' }),
    ],
  ])('in place of %s are a 500 that names the plugin, and later requests are served', async (_, change) => {
    let isFirst = true;
    const harness = createHarness({
      plugins: [
        pluginOf((services) => ({
          async onAttempt(ctx, target) {
            const isChanged = isFirst;
            isFirst = false;
            if (isChanged) await change(ctx as never, services, target as never);
          },
        })),
      ],
    });
    const headers = {
      'x-svc-config': JSON.stringify({ provider: '@one', override_params: { model: 'm' } }),
      'x-svc-metadata': '{"team":"search"}',
    };
    const first = await harness.send({ ...chat, headers });
    expect([first.status, JSON.stringify(harness.logs)]).toEqual([500, expect.stringContaining('plugin curious, onAttempt: ')]);
    const second = await harness.send({ ...chat, headers });
    expect(second.status).toBe(200);
    const [failed, served] = harness.records;
    expect([served?.model, served?.metadata, served?.workspaceId]).toEqual(['m', { team: 'search' }, failed?.workspaceId]);
  });

  it('lists and counts that are for reading stay as they are in the record', async () => {
    const harness = createHarness({
      plugins: [
        pluginOf(() => ({
          onReply(ctx) {
            (ctx.attempts as unknown[]).length = 0;
          },
          onEnd(ctx) {
            (ctx.attempts as unknown[]).push({});
            Object.assign(ctx.usage?.raw as object, { prompt_tokens: 1n });
          },
        })),
      ],
    });
    await harness.send({ ...chat, headers: { 'x-svc-provider': '@one' } });
    expect(harness.records).toMatchObject([{ inputTokens: 3, attempts: [{ status: 200 }] }]);
    expect(JSON.stringify(harness.logs)).toContain('plugin curious, onEnd: ');
  });

  it('the usage of a session is the current one at each access, with the counts of the provider', () => {
    const usage = { ...emptyUsage(), raw: { input_tokens: 3 } };
    const view = viewOf({ usage, pluginView: null } as unknown as RequestContext, hiddenNames({ secrets: [] }, ['x-svc-']));
    expect(view.usage?.raw).toEqual({ input_tokens: 3 });
    usage.raw.input_tokens = 5;
    expect(view.usage?.raw).toEqual({ input_tokens: 5 });
  });

  it('slots belong to the request, and need the ctx of a hook', async () => {
    let slot: Slot<number> | undefined;
    const seen: unknown[] = [];
    const harness = createHarness({
      plugins: [
        pluginOf((services) => {
          slot = services.slot<number>();
          const own = slot;
          return { onRequest: (ctx) => own.set(ctx, seen.length), onEnd: (ctx) => void seen.push(own.get(ctx)) };
        }),
      ],
    });
    for (const _ of ['first', 'second']) await harness.send({ ...chat, headers: { 'x-svc-provider': '@one' } });
    expect(seen).toEqual([0, 1]);
    expect(() => slot?.get({} as PluginContext)).toThrow('expected the ctx of a hook');
  });
});

/** The request as a plugin without a compiler sees it. */
// biome-ignore lint/suspicious/noExplicitAny: writes to read-only members are what the tests are about
type Changeable = any;

/** Services that refuse every call: the webhook of the inline config fails. */
const refusing = {
  send(_: unknown, handler: { onError(error: Error): void }) {
    setImmediate(() => handler.onError(new Error('refused')));
    return { sent: false, resume: () => {}, abort: () => {} };
  },
  close: async () => {},
} as never;
