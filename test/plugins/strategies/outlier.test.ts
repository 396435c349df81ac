import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptResult } from '../../../core/contract/plugin/context.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { chatReply, createHarness, type Harness, replyWith, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import { createOutliers } from '../../../plugins/strategies/outlier.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';

let time: FakeTime;
beforeEach(() => {
  time = newFakeTime();
});

function result(status: number, more: Partial<AttemptResult> = {}): AttemptResult {
  const shape = { targetPath: 'config', targetIndex: 0, provider: 'openai', providerSlug: null, errorCode: null };
  const ok = status >= 200 && status < 300;
  return { ...shape, status, ok, error: null, durationMs: 1, firstByteMs: 1, retryAfterMs: null, ...more };
}

describe('a target with failures in a row', () => {
  const newOutliers = () => createOutliers({ consecutive_failures: 3, cooldown: 1000, max_cooldown: 5000 }, 2, time.clock);
  type Outliers = ReturnType<typeof newOutliers>;
  const observe = (outliers: Outliers, ...results: (AttemptResult | null)[]) => {
    for (const each of results) outliers.observe(0, each);
  };
  /** For how long it stays at the end from now on. */
  function coolsForMs(outliers: Outliers): number {
    const before = time.clock.elapsed();
    while (outliers.isCooling(0)) time.advance(100);
    return time.clock.elapsed() - before;
  }

  it.each([
    ['5xx', result(503)],
    ['no reply in time', result(408, { error: new GatewayError('request_timeout') })],
    ['not reached', result(502, { error: new GatewayError('upstream_connect') })],
    ['429 that says when to come back', result(429, { retryAfterMs: 1 })],
    ['a stream that was cut', result(200, { error: new GatewayError('upstream_reset') })],
  ])('outlier: cools down after %s three times', (_name, failure) => {
    const outliers = newOutliers();
    observe(outliers, failure, failure);
    expect(outliers.isCooling(0)).toBe(false);
    observe(outliers, failure);
    expect(outliers.isCooling(0)).toBe(true);
    expect(outliers.isCooling(1)).toBe(false);
  });

  it.each([
    ['429 without a time', result(429)],
    ['a fault of the caller', result(400)],
    ['a success', result(200)],
  ])('outlier: restarts its count after %s', (_name, between) => {
    const outliers = newOutliers();
    observe(outliers, result(500), result(500), between, result(500), result(500));
    expect(outliers.isCooling(0)).toBe(false);
  });

  it('keeps its count past neutral results', () => {
    const outliers = newOutliers();
    const left = result(499, { error: new GatewayError('client_closed') });
    observe(outliers, result(500), null, left, result(500), result(500));
    expect(outliers.isCooling(0)).toBe(true);
  });

  it('cools down twice as long after each further failure, up to the maximum, until it succeeds', () => {
    const outliers = newOutliers();
    observe(outliers, result(500), result(500));
    const times: number[] = [];
    for (let i = 0; i < 4; i++) {
      observe(outliers, result(500));
      times.push(coolsForMs(outliers));
    }
    expect(times).toEqual([1000, 2000, 4000, 5000]);
    observe(outliers, result(200), result(500), result(500));
    expect(outliers.isCooling(0)).toBe(false);
    observe(outliers, result(500));
    expect(coolsForMs(outliers)).toBe(1000);
  });

  it('counts concurrent failures as one', () => {
    const outliers = newOutliers();
    observe(outliers, ...Array<AttemptResult>(9).fill(result(500)));
    expect(coolsForMs(outliers)).toBe(1000);
  });

  it('cools down as long as the provider requests, up to the maximum', () => {
    const outliers = newOutliers();
    observe(outliers, ...Array<AttemptResult>(3).fill(result(429, { retryAfterMs: 3000 })));
    expect(coolsForMs(outliers)).toBe(3000);
    observe(outliers, result(429, { retryAfterMs: 60_000 }));
    expect(coolsForMs(outliers)).toBe(5000);
  });
});

describe('outlier in a config', () => {
  const outlier = { consecutive_failures: 2, cooldown: 1000 };
  const body = { model: 'gpt-5', messages: [] };
  const bad = replyWith(500, {});
  const good = replyWith(200, chatReply('ok'));
  const newHarness = () => createHarness({ now: time.clock.now, elapsed: time.clock.elapsed, random: () => 0 });

  async function ask(gateway: Harness, config: JsonObject, ...scripts: Script[]): Promise<string> {
    gateway.script(...scripts);
    const reply = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) }, body });
    return `${reply.status} ${reply.header('x-svc-last-used-option-index')}`;
  }

  it('moves a target to the end of a fallback, which still calls it if the others fail', async () => {
    const gateway = newHarness();
    const config = { strategy: { mode: 'fallback', outlier }, targets: [{ provider: '@one' }, { provider: '@two' }] };
    await ask(gateway, config, bad, good);
    await ask(gateway, config, bad, good);
    expect(await ask(gateway, config, good)).toBe('200 config.targets[1]');
    expect(gateway.records.at(-1)).toMatchObject({
      attempts: [{ targetPath: 'config.targets[1]' }],
      decisions: [{ targetPath: 'config.targets[0]', decision: 'cooling_down' }],
    });
    expect(await ask(gateway, config, bad, good)).toBe('200 config.targets[0]');
    time.advance(1000);
    expect(await ask(gateway, config, good)).toBe('200 config.targets[0]');
    expect(gateway.records.at(-1)?.decisions).toBeUndefined();
  });

  it('keeps a load balancer away from a target while there is another', async () => {
    const gateway = newHarness();
    const config = { strategy: { mode: 'loadbalance', outlier }, targets: [{ provider: '@one' }, { provider: '@two' }] };
    expect(await ask(gateway, config, bad)).toBe('500 config.targets[0]');
    expect(await ask(gateway, config, bad)).toBe('500 config.targets[0]');
    expect(await ask(gateway, config, bad)).toBe('500 config.targets[1]');
    expect(await ask(gateway, config, bad)).toBe('500 config.targets[1]');
    expect(await ask(gateway, config, good)).toBe('200 config.targets[0]');
  });

  it('moves the sticky choice of an identity only for that time', async () => {
    const gateway = newHarness();
    const config = {
      strategy: { mode: 'loadbalance', outlier, sticky: { enabled: true, ttl: 3600 } },
      targets: [{ provider: '@one' }, { provider: '@two' }],
    };
    const own = await ask(gateway, config, bad);
    expect(await ask(gateway, config, bad)).toBe(own);
    const other = await ask(gateway, config, good);
    expect(other.slice(4)).not.toBe(own.slice(4));
    expect(await ask(gateway, config, good)).toBe(other);
    time.advance(1000);
    expect((await ask(gateway, config, good)).slice(4)).toBe(own.slice(4));
  });
});
