import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  type FakeSink,
  failWith,
  type Harness,
  replyWith,
  type Script,
} from '../../../core/test-kit/pipeline-harness.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';

const body = { model: 'gpt-5', messages: [] };
const good: Script = (call, handler) => replyWith(200, chatReply('ok'))(call, handler);
const bad = replyWith(500, { error: { message: 'down' } });
const breaker = { failure_threshold: 2, cooldown_interval: 30_000 };

let time: FakeTime;
let gateway: Harness;
beforeEach(() => {
  time = newFakeTime();
  gateway = createHarness({ now: time.clock.now, elapsed: time.clock.elapsed });
});

const fallbackConfig = (more: JsonObject = {}): JsonObject => ({
  strategy: { mode: 'fallback', cb_config: breaker, ...more },
  targets: [{ provider: '@one' }, { provider: '@two' }],
});

/** Replies by target: `@one` with the first script, `@two` with the second. */
function byProvider(first: Script, second: Script = good): void {
  const all: Script = (call, handler) => (call.headers.includes('Bearer sk-one') ? first : second)(call, handler);
  gateway.documents.forEach((document, key) => {
    if (key.endsWith('/one')) Object.assign(document as object, { secrets: '{"api_key":"sk-one"}' });
  });
  gateway.script(all);
}

async function ask(more: { config?: string; body?: object; path?: string } = {}): Promise<string> {
  const headers = { 'x-svc-config': more.config ?? 'pc-main' };
  const reply = await gateway.send({
    headers,
    body: (more.body ?? body) as JsonObject,
    ...(more.path ? { path: more.path } : {}),
  });
  return `${reply.status} ${reply.header('x-svc-last-used-option-index')}`;
}
async function times(count: number, more: Parameters<typeof ask>[0] = {}): Promise<string[]> {
  const seen: string[] = [];
  for (let i = 0; i < count; i++) seen.push(await ask(more));
  return seen;
}
const calls = (): number => gateway.calls.length;
const decisions = () => gateway.records.at(-1)?.decisions;

describe('a target that keeps failing', () => {
  it('is skipped, and the header still names targets by their position in the config', async () => {
    gateway.addConfig('pc-main', fallbackConfig());
    byProvider(bad);
    expect(await times(3)).toEqual(Array(3).fill('200 config.targets[1]'));
    expect(calls()).toBe(5);
    expect(decisions()).toEqual([{ targetPath: 'config.targets[0]', decision: 'circuit_open' }]);
    expect(gateway.records.at(-1)?.attempts).toHaveLength(1);
  });

  it('gets one request after the cool-down, and all once that one succeeded', async () => {
    gateway.addConfig('pc-main', fallbackConfig());
    byProvider(bad);
    await times(2);
    time.advance(30_000);
    expect(await ask()).toBe('200 config.targets[1]');
    expect(decisions()).toEqual([{ targetPath: 'config.targets[0]', decision: 'circuit_trial' }]);
    byProvider(good);
    expect(await ask()).toBe('200 config.targets[1]');
    time.advance(30_000);
    expect(await times(3)).toEqual(Array(3).fill('200 config.targets[0]'));
    expect(decisions()).toBeUndefined();
  });

  it('gets one trial of many concurrent requests', async () => {
    gateway.addConfig('pc-main', fallbackConfig());
    byProvider(bad);
    await times(2);
    time.advance(30_000);
    byProvider(good);
    const seen = await Promise.all(Array.from({ length: 5 }, () => ask()));
    expect(seen.sort()).toEqual(['200 config.targets[0]', ...Array(4).fill('200 config.targets[1]')]);
  });

  it('gets another trial if the client of the first one leaves', async () => {
    gateway.addConfig('pc-main', fallbackConfig());
    byProvider(bad);
    await times(2);
    time.advance(30_000);
    let leave = (): void => {};
    gateway.script(() => leave());
    const prepare = (sink: FakeSink): void => {
      leave = () => sink.leave();
    };
    await gateway.send({ headers: { 'x-svc-config': 'pc-main' }, body, prepare });
    expect(gateway.records.at(-1)?.outcome).toBe('aborted');
    byProvider(good);
    expect(await ask()).toBe('200 config.targets[0]');
    expect(decisions()).toEqual([{ targetPath: 'config.targets[0]', decision: 'circuit_trial' }]);
  });

  it('is called anyway if all circuits are open', async () => {
    gateway.addConfig('pc-main', fallbackConfig());
    byProvider(bad, bad);
    await times(2);
    const before = calls();
    expect(await ask()).toBe('500 config.targets[1]');
    expect(calls() - before).toBe(2);
    expect(decisions()).toEqual([
      { targetPath: 'config.targets[0]', decision: 'circuit_bypassed' },
      { targetPath: 'config.targets[1]', decision: 'circuit_bypassed' },
    ]);
  });

  it('counts once per request, with any number of retries', async () => {
    gateway.addConfig('pc-main', { ...fallbackConfig(), retry: { attempts: 3 } });
    byProvider(bad);
    await ask();
    expect(calls()).toBe(5);
    await ask();
    expect(calls()).toBe(10);
    await ask();
    expect(calls()).toBe(11);
  });

  it('is skipped by a load balancer, and the rest share its requests', async () => {
    const targets = [{ provider: '@one' }, { provider: '@two' }, { provider: '@two' }];
    gateway.addConfig('pc-main', { strategy: { mode: 'loadbalance', algorithm: 'round_robin', cb_config: breaker }, targets });
    byProvider(bad);
    await times(6);
    expect((await times(4)).sort()).toEqual([
      '200 config.targets[1]',
      '200 config.targets[1]',
      '200 config.targets[2]',
      '200 config.targets[2]',
    ]);
  });

  it('is skipped by a weighted load balancer, and weight 0 is still never chosen', async () => {
    const targets = [{ provider: '@one' }, { provider: '@two', weight: 0 }];
    gateway.addConfig('pc-main', { strategy: { mode: 'loadbalance', cb_config: breaker }, targets });
    byProvider(bad);
    expect(await times(3)).toEqual(Array(3).fill('500 config.targets[0]'));
    expect(decisions()).toEqual([{ targetPath: 'config.targets[0]', decision: 'circuit_bypassed' }]);
  });
});

describe('circuit failures', () => {
  const opens = async (script: Script, cb_config: JsonObject = {}, request: Parameters<typeof ask>[0] = {}) => {
    gateway.addConfig('pc-main', fallbackConfig({ cb_config: { ...breaker, ...cb_config } }));
    byProvider(script);
    await times(2, request);
    const before = calls();
    await ask(request);
    return calls() - before === 1 && decisions()?.[0]?.decision === 'circuit_open';
  };

  it.each([
    ['500', bad, true],
    ['599', replyWith(599, {}), true],
    ['not reached', failWith(new GatewayError('upstream_connect')), true],
    ['cut before the first byte', failWith(new GatewayError('upstream_reset')), true],
    ['garbage', replyWith(200, '<html>'), true],
    ['429', replyWith(429, {}), false],
    ['404', replyWith(404, {}), false],
    ['out of time, as the caller may have asked for', failWith(new GatewayError('request_timeout')), false],
  ])('%s: %#', async (_name, script, expected) => {
    expect(await opens(script)).toBe(expected);
  });

  it('include a stream that is cut after its beginning', async () => {
    const cut = chatStream(['a', 'b'], { cutAfter: 1, error: new GatewayError('upstream_reset') });
    expect(await opens(cut, {}, { body: { ...body, stream: true } })).toBe(true);
  });

  it('include an error of a pass-through route, also if it is forwarded unchanged', async () => {
    expect(await opens(replyWith(503, 'no', ['content-type', 'text/plain']), {}, { path: '/v1/anything' })).toBe(true);
  });

  it('include the listed statuses, and no others', async () => {
    expect(await opens(replyWith(429, {}), { failure_status_codes: [429] })).toBe(true);
    expect(await opens(replyWith(500, {}), { failure_status_codes: [429] })).toBe(false);
  });

  it('are counted by percentage, after enough calls', async () => {
    const share = { failure_threshold_percentage: 50, minimum_requests: 3, cooldown_interval: 30_000 };
    gateway.addConfig('pc-main', fallbackConfig({ cb_config: share }));
    byProvider(bad);
    await times(2);
    expect(calls()).toBe(4);
    await ask();
    expect(calls()).toBe(6);
    await ask();
    expect(calls()).toBe(7);
  });
});

describe('scope of circuits', () => {
  it('excludes an inline config', async () => {
    byProvider(bad);
    await times(4, { config: JSON.stringify(fallbackConfig()) });
    expect(calls()).toBe(8);
  });

  it('excludes a provider that is not stored', async () => {
    const targets = [{ provider: 'openai', api_key: 'sk-one' }, { provider: '@two' }];
    gateway.addConfig('pc-main', { ...fallbackConfig(), targets });
    byProvider(bad);
    await times(4);
    expect(calls()).toBe(8);
  });

  it('ends when the config has changed', async () => {
    gateway.addConfig('pc-main', fallbackConfig());
    byProvider(bad);
    await times(3);
    gateway.addConfig('pc-main', fallbackConfig());
    const before = calls();
    await ask();
    expect(calls() - before).toBe(2);
  });

  it('includes all targets below the strategy, and groups: a group whose targets are all open is skipped', async () => {
    const group = { strategy: { mode: 'loadbalance' }, targets: [{ provider: '@one' }] };
    gateway.addConfig('pc-main', { ...fallbackConfig(), targets: [group, { provider: '@two' }] });
    byProvider(bad);
    expect(await times(3)).toEqual(Array(3).fill('200 config.targets[1]'));
    expect(calls()).toBe(5);
    expect(decisions()).toEqual([{ targetPath: 'config.targets[0]', decision: 'circuit_open' }]);
  });

  it('is set by the nearest strategy', async () => {
    const inner = {
      strategy: { mode: 'fallback', cb_config: { ...breaker, failure_threshold: 1 } },
      targets: [{ provider: '@one' }],
    };
    gateway.addConfig('pc-main', { ...fallbackConfig(), targets: [inner, { provider: '@two' }] });
    byProvider(bad);
    await times(2);
    expect(calls()).toBe(3);
  });

  it('excludes targets below a condition', async () => {
    const chosen = { name: 'chosen', strategy: { mode: 'fallback' }, targets: [{ provider: '@one' }, { provider: '@two' }] };
    const conditions = [{ query: { 'params.model': 'gpt-5' }, then: 'chosen' }];
    const condition = { strategy: { mode: 'conditional', conditions }, targets: [chosen] };
    gateway.addConfig('pc-main', { ...fallbackConfig(), targets: [condition, { provider: '@two' }] });
    byProvider(bad);
    await times(4);
    expect(calls()).toBe(8);
  });
});
