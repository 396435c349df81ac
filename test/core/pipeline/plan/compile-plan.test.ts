import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { builtInPlugins } from '../../../../core/compose/compose-chain.ts';
import type { GatewayConfig } from '../../../../core/contract/plugin/config/gateway-config.ts';
import { type CoreHooks, type CorePlugin, defineCorePlugin } from '../../../../core/contract/plugin/core-plugin.ts';
import type { Stage } from '../../../../core/contract/plugin/plugin.ts';
import { checkOrder, mergePlugins } from '../../../../core/pipeline/plan/compile-plan.ts';
import { compileTargets as compile } from '../../../../core/pipeline/plan/compile-targets.ts';
import { settingNames } from '../../../../core/providers/declarations.ts';
import { createHarness } from '../../../../core/test-kit/pipeline-harness.ts';

const compileTargets = (config: GatewayConfig) => compile(config, settingNames);

function plugin(name: string, stage: Stage, more: Partial<CorePlugin> = {}): CorePlugin {
  return {
    ...defineCorePlugin({ name, stage, config: v.optional(v.strictObject({})), onConfig: (): CoreHooks | null => null }),
    ...more,
  } as CorePlugin;
}

it('a config that plugins see has digests in the place of all credentials, also in its targets', async () => {
  const seen: unknown[] = [];
  const spy = plugin('spy', 'cache', {
    onConfig(_config, { config }) {
      seen.push(config);
      return null;
    },
  });
  const gateway = createHarness({ plugins: [spy] });
  const credentials = { api_key: 'sk-planted', aws_secret_access_key: 'planted too' };
  const config = { ...credentials, strategy: { mode: 'fallback' }, targets: [{ provider: 'bedrock', ...credentials }] };
  await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) } });
  const text = JSON.stringify(seen);
  expect([text.includes('planted'), text.match(/sha256:/g)?.length]).toEqual([false, 4]);
});

describe('the plugin order', () => {
  it('is the built-in one without third-party plugins', () => {
    expect(() => checkOrder(builtInPlugins({ apiKeyPeppers: () => [new Uint8Array(32)] }))).not.toThrow();
  });

  it('puts third-party plugins after the built-in ones of their stage', () => {
    const builtIn = [plugin('auth', 'auth'), plugin('limits', 'limits'), plugin('check', 'output-guardrails')];
    const added = [plugin('late', 'output-guardrails'), plugin('early', 'auth')];
    expect(mergePlugins(builtIn, added).map(({ name }) => name)).toEqual(['auth', 'early', 'limits', 'check', 'late']);
  });

  it.each([
    [
      'a name that is taken',
      [plugin('auth', 'auth'), plugin('auth', 'auth')],
      /auth: another plugin, built in or of PLUGINS, has the same name/,
    ],
    ['stages out of order', [plugin('b', 'cache'), plugin('a', 'auth')], /a: stage auth is listed after cache/],
    ['a plugin it needs but has not', [plugin('a', 'auth', { after: ['z'] })], /a: after: no plugin z runs before it/],
  ])('is rejected at start for %s, naming the plugin', (_name, list, message) => {
    expect(() => checkOrder(list)).toThrow(message);
  });
});

describe('settings of third-party plugins', () => {
  const strict = plugin('strict', 'limits', {
    config: v.optional(v.strictObject({ limit: v.number() })),
    onConfig: (config) => (config ? { onRequest: () => ({ status: 299, headers: [], body: JSON.stringify(config) }) } : null),
  });

  it('come from plugins.<name> of the config, parsed by the plugin’s schema', async () => {
    const gateway = createHarness({ plugins: [strict] });
    const reply = await gateway.send({ headers: { 'x-svc-config': '{"provider":"@one","plugins":{"strict":{"limit":3}}}' } });
    expect(reply.status).toBe(299);
    expect(reply.json).toEqual({ limit: 3 });
  });

  it.each([
    ['{"provider":"@one","plugins":{"strict":{"limit":"3"}}}', 'plugins.strict.limit'],
    ['{"provider":"@one","plugins":{"nobody":{}}}', 'plugins.nobody'],
  ])('are rejected with the path in the config %s', async (config, path) => {
    const gateway = createHarness({ plugins: [strict] });
    const reply = await gateway.send({ headers: { 'x-svc-config': config } });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain(path);
  });

  it('keep the last valid plan in use if a saved config no longer compiles', async () => {
    const gateway = createHarness({ plugins: [strict] });
    const good = gateway.addConfig('pc-s', { provider: '@one', plugins: { strict: { limit: 1 } } });
    expect((await gateway.send({ headers: { 'x-svc-config': 'pc-s' } })).json).toEqual({ limit: 1 });
    gateway.documents.set(`config ${good.workspaceId}/pc-s`, {
      ...good,
      config: { provider: '@one', plugins: { strict: { limit: 'x' } } },
    });
    expect((await gateway.send({ headers: { 'x-svc-config': 'pc-s' } })).json).toEqual({ limit: 1 });
    expect(gateway.logs.filter(({ level }) => level === 'error')).toHaveLength(1);
    await gateway.send({ headers: { 'x-svc-config': 'pc-s' } });
    expect(gateway.logs.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});

describe('onClose', () => {
  it('is called once, after the last request on the replaced config has ended', async () => {
    const closed: unknown[] = [];
    let release: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = plugin('holding', 'limits', {
      config: v.optional(v.strictObject({ id: v.number() })),
      onConfig: (config) =>
        config
          ? { onRequest: () => held.then(() => undefined), onClose: () => void closed.push((config as { id: number }).id) }
          : null,
    });
    const gateway = createHarness({ plugins: [holding] });
    const first = gateway.addConfig('pc-c', { provider: '@one', plugins: { holding: { id: 1 } } });
    const running = gateway.send({ headers: { 'x-svc-config': 'pc-c' } });
    await new Promise((resolve) => setImmediate(resolve));
    gateway.documents.set(`config ${first.workspaceId}/pc-c`, {
      ...first,
      config: { provider: '@one', plugins: { holding: { id: 2 } } },
    });
    const next = gateway.send({ headers: { 'x-svc-config': 'pc-c' } });
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toEqual([]);
    release();
    await Promise.all([running, next]);
    expect(closed).toEqual([1]);
    gateway.plans.close();
    expect(closed).toEqual([1, 2]);
  });
});

describe('compileTargets', () => {
  it('numbers leaves in document order with the path in the config', () => {
    const targets = compileTargets({
      strategy: { mode: 'fallback' },
      targets: [{ provider: 'a' }, { strategy: { mode: 'fallback' }, targets: [{ provider: 'b' }, { provider: 'c' }] }],
    });
    expect(targets.map(({ index, path }) => [index, path])).toEqual([
      [0, 'config.targets[0]'],
      [1, 'config.targets[1].targets[0]'],
      [2, 'config.targets[1].targets[1]'],
    ]);
  });

  it('merges inherited parameter objects with the child first, and inherits other fields whole', () => {
    const [own, inherited] = compileTargets({
      strategy: { mode: 'fallback' },
      override_params: { a: 1, b: 1 },
      retry: { attempts: 3, on_status_codes: [429] },
      request_timeout: 1000,
      custom_host: 'https://host.example',
      forward_headers: ['X-One'],
      strict_open_ai_compliance: false,
      targets: [{ provider: 'p', override_params: { b: 2 }, retry: { attempts: 1 }, request_timeout: 5 }, { provider: 'q' }],
    });
    expect(own).toMatchObject({
      overrideParams: { a: 1, b: 2 },
      retry: { attempts: 1 },
      timeoutMs: 5,
      customHost: 'https://host.example',
    });
    expect(own?.retry?.statusCodes).toContain(503);
    expect(inherited).toMatchObject({
      overrideParams: { a: 1, b: 1 },
      retry: { attempts: 3, statusCodes: [429] },
      timeoutMs: 1000,
      forwardHeaders: ['x-one'],
      strict: false,
    });
  });

  it('does not pass a parent’s key to a child with another provider', () => {
    const [child] = compileTargets({
      strategy: { mode: 'single' },
      provider: 'openai',
      api_key: 'sk-parent',
      targets: [{ provider: 'groq' }],
    });
    expect(child?.credentials).toEqual({});
  });
});

describe('credentials in a config', () => {
  const inline = (key: string) => ({
    'x-svc-config': JSON.stringify({ provider: 'openai', api_key: key, cache: { mode: 'simple' } }),
  });

  it('reach the provider, and no plugin', async () => {
    const seen: string[] = [];
    const curious = plugin('curious', 'output-guardrails', {
      onConfig: (_config, scope) => {
        seen.push(JSON.stringify(scope));
        return {
          onRequest: (ctx) => {
            seen.push(JSON.stringify(ctx.plan));
          },
        };
      },
    });
    const gateway = createHarness({ plugins: [curious] });
    await gateway.send({ headers: inline('sk-planted') });
    expect(gateway.calls[0]?.headers).toContain('Bearer sk-planted');
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.join('')).not.toContain('sk-planted');
  });

  it('distinguish configs', async () => {
    const gateway = createHarness();
    await gateway.send({ headers: inline('sk-one') });
    expect((await gateway.send({ headers: inline('sk-two') })).header('x-svc-cache-status')).toBe('MISS');
  });
});

describe('a model slug in override_params', () => {
  it('selects the provider, and is removed from the model', () => {
    const [target] = compileTargets({ override_params: { model: '@one/gpt-5', temperature: 1 } });
    expect(target).toMatchObject({ provider: '@one', overrideParams: { model: 'gpt-5', temperature: 1 } });
  });

  it('is removed even if a provider is named, which takes precedence', () => {
    const [target] = compileTargets({ provider: '@two', override_params: { model: '@one/gpt-5' } });
    expect(target).toMatchObject({ provider: '@two', overrideParams: { model: 'gpt-5' } });
  });
});
