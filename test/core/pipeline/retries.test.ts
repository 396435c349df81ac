import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import type { HeaderList } from '../../../core/contract/values/http/http.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { Timers } from '../../../core/contract/values/time/timers.ts';
import { mayRetry } from '../../../core/pipeline/attempt/retry-wait.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  failWith,
  type Harness,
  replyWith,
  type Script,
} from '../../../core/test-kit/pipeline-harness.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';

const body = { model: 'gpt-5', messages: [] };
const good = replyWith(200, chatReply('ok'));
const bad = replyWith(503, { error: { message: 'down' } });
const slowDown = (...headers: HeaderList) =>
  replyWith(429, { error: { message: 'slow down' } }, ['content-type', 'application/json', ...headers]);

let time: FakeTime;
let waits: number[];
beforeEach(() => {
  time = newFakeTime();
  waits = [];
});

/** Timers that fire in the next turn, record their delay and advance the clock by it. */
const timers: Timers = {
  after(delayMs, callback) {
    waits.push(delayMs);
    const next = setImmediate(() => {
      time.advance(delayMs);
      callback();
    });
    return () => clearImmediate(next);
  },
};

const newHarness = (options: Parameters<typeof createHarness>[0] = {}) =>
  createHarness({ now: time.clock.now, elapsed: time.clock.elapsed, random: () => 0.999, timers, ...options });

async function ask(gateway: Harness, config: JsonObject, more: { path?: string; body?: JsonObject } = {}) {
  const reply = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) }, body, ...more });
  return { status: reply.status, retries: reply.header('x-svc-retry-attempt-count'), reply };
}
const retrying = (retry: JsonObject, provider = '@one'): JsonObject => ({ provider, retry: { attempts: 5, ...retry } });
/** Waits this long before it replies. */
const taking =
  (ms: number, script: Script): Script =>
  (call, handler) => {
    time.advance(ms);
    script(call, handler);
  };

describe('waits between attempts', () => {
  it('are up to 1, 2, 4, 8 and 16 seconds', async () => {
    const gateway = newHarness();
    gateway.script(bad);
    expect(await ask(gateway, retrying({}))).toMatchObject({ status: 503, retries: '-1' });
    expect(waits).toEqual([999, 1998, 3996, 7992, 15_984]);
    expect(gateway.calls).toHaveLength(6);
  });

  it('can be as short as zero: full jitter', async () => {
    const gateway = newHarness({ random: () => 0 });
    gateway.script(bad, bad, good);
    expect(await ask(gateway, retrying({}))).toMatchObject({ status: 200, retries: '2' });
    expect(waits).toEqual([0, 0]);
  });

  it.each<[string, HeaderList, number]>([
    ['milliseconds before all', ['retry-after-ms', '1500', 'x-ms-retry-after-ms', '2500', 'retry-after', '3'], 1500],
    ['the milliseconds of Microsoft before seconds', ['x-ms-retry-after-ms', '2500', 'retry-after', '3'], 2500],
    ['seconds', ['retry-after', '3'], 3000],
    ['a date', ['date', 'Sat, 21 Nov 2026 00:00:00 GMT', 'retry-after', 'Sat, 21 Nov 2026 00:00:07 GMT'], 7000],
    [
      'a date in the past as no wait',
      ['date', 'Sat, 21 Nov 2026 00:00:07 GMT', 'retry-after', 'Sat, 21 Nov 2026 00:00:00 GMT'],
      0,
    ],
    ['what cannot be read as nothing', ['retry-after', 'soon'], 999],
    ['nothing as nothing', [], 999],
  ])('read %s', async (_name, headers, waitMs) => {
    const gateway = newHarness();
    gateway.script(slowDown(...headers), good);
    expect((await ask(gateway, retrying({ use_retry_after_header: true }))).status).toBe(200);
    expect(waits).toEqual([waitMs]);
  });

  it.each([
    [
      'do not follow retry-after of other status codes',
      { use_retry_after_header: true },
      replyWith(503, {}, ['content-type', 'application/json', 'retry-after', '3']),
    ],
    ['not unless asked to', {}, slowDown('retry-after', '3')],
  ])('follow retry-after %s', async (_name, retry, script) => {
    const gateway = newHarness();
    gateway.script(script, good);
    await ask(gateway, retrying(retry));
    expect(waits).toEqual([999]);
  });

  it('end the retries when they reach a minute in total', async () => {
    const gateway = newHarness();
    gateway.script(slowDown('retry-after', '25'));
    expect(await ask(gateway, retrying({ use_retry_after_header: true }))).toMatchObject({ status: 429, retries: '-1' });
    expect(waits).toEqual([25_000, 25_000]);
    expect(gateway.calls).toHaveLength(3);
  });
});

describe('max_attempt_time_ms', () => {
  const limitsOf = (gateway: Harness) => gateway.calls.map(({ timeouts }) => timeouts);

  it('limits one attempt, which is then retried', async () => {
    const gateway = newHarness();
    gateway.script(failWith(new GatewayError('request_timeout')), good);
    expect(await ask(gateway, retrying({ max_attempt_time_ms: 200 }))).toMatchObject({ status: 200, retries: '1' });
    for (const limits of limitsOf(gateway)) expect(limits).toMatchObject({ connectMs: 200, firstByteMs: 200, totalMs: 200 });
  });

  it('causes no retry if 408 is not listed', async () => {
    const gateway = newHarness();
    gateway.script(failWith(new GatewayError('request_timeout')));
    const replied = await ask(gateway, retrying({ max_attempt_time_ms: 200, on_status_codes: [503] }));
    expect(replied).toMatchObject({ status: 408, retries: '0' });
    expect(gateway.calls).toHaveLength(1);
  });

  it('is at most request_timeout', async () => {
    const gateway = newHarness();
    await ask(gateway, { ...retrying({ max_attempt_time_ms: 5000 }), request_timeout: 1000 });
    expect(limitsOf(gateway)[0]).toMatchObject({ firstByteMs: 1000, totalMs: 1000 });
  });

  it.each([
    ['a stream', { body: { ...body, stream: true } }, chatStream(['a'])],
    ['a pass-through route', { path: '/v1/anything' }, good],
  ])('ends with the first byte of %s', async (name, request, script) => {
    const gateway = newHarness();
    gateway.script(script);
    expect((await ask(gateway, retrying({ max_attempt_time_ms: 200 }), request)).status).toBe(200);
    expect(limitsOf(gateway)[0]).toMatchObject({ firstByteMs: 200, totalMs: 0, awaitsBody: name === 'a stream' });
  });
});

describe('max_total_time_ms', () => {
  it('limits all attempts at a target: each has the rest, and none begins too late', async () => {
    const gateway = newHarness();
    gateway.script(taking(1500, bad));
    const replied = await ask(gateway, retrying({ max_total_time_ms: 5000 }));
    expect(replied).toMatchObject({ status: 503, retries: '-1' });
    // 1500 + 999 + 1500 ms have passed, so a wait of 1998 ms would end too late.
    expect(gateway.calls.map((call) => call.timeouts.totalMs)).toEqual([5000, 2501]);
    expect(waits).toEqual([999]);
    expect(gateway.records[0]?.decisions).toEqual([{ targetPath: 'config', decision: 'total_time' }]);
  });

  it('is separate for each target', async () => {
    const gateway = newHarness();
    gateway.script(taking(5000, bad), good);
    const config = { strategy: { mode: 'fallback' }, targets: [retrying({ max_total_time_ms: 5000 }), { provider: '@two' }] };
    expect((await ask(gateway, config)).status).toBe(200);
  });

  it('limits all targets together at the root', async () => {
    const gateway = newHarness();
    gateway.script(taking(3000, bad));
    const config = {
      retry: { attempts: 0, max_total_time_ms: 5000 },
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@one' }, { provider: '@two' }, { provider: '@one' }],
    };
    expect((await ask(gateway, config)).status).toBe(503);
    expect(gateway.calls.map((call) => call.timeouts.totalMs)).toEqual([5000, 2000]);
    expect(gateway.records[0]?.decisions).toEqual([{ targetPath: 'config.targets[2]', decision: 'total_time' }]);
  });

  it('also limits targets with their own retry at the root', async () => {
    const gateway = newHarness();
    gateway.script(taking(3000, bad));
    const config = {
      retry: { attempts: 0, max_total_time_ms: 5000 },
      strategy: { mode: 'fallback' },
      targets: [retrying({ max_attempt_time_ms: 4000 }), { provider: '@two', retry: { attempts: 0 } }],
    };
    await ask(gateway, config);
    expect(gateway.calls.map((call) => call.timeouts.totalMs)).toEqual([4000, 1001]);
  });
});

describe('the retry budget', () => {
  it('rejects a retry beyond it, records that, and the fallback continues', async () => {
    const gateway = newHarness({ retryBudget: { percent: 20, floor: 2 } });
    gateway.script(bad, bad, bad, good);
    const config = { strategy: { mode: 'fallback' }, targets: [retrying({}), { provider: '@claude' }] };
    const { status, reply } = await ask(gateway, config);
    expect([status, reply.header('x-svc-last-used-option-index')]).toEqual([200, 'config.targets[1]']);
    expect(gateway.calls).toHaveLength(4);
    expect(gateway.records[0]?.decisions).toEqual([{ targetPath: 'config.targets[0]', decision: 'retry_budget' }]);
  });

  it('is shared by all requests to an origin, and grows with retryable traffic', async () => {
    const gateway = newHarness({ retryBudget: { percent: 20, floor: 0 } });
    gateway.script(bad);
    expect(await ask(gateway, retrying({}))).toMatchObject({ status: 503, retries: '-1' });
    expect(gateway.calls).toHaveLength(1);
    gateway.script(good);
    for (let i = 0; i < 14; i++) await ask(gateway, retrying({}));
    gateway.script(bad);
    gateway.calls.length = 0;
    waits = [];
    // 16 requests. A fifth of them may be retried.
    await ask(gateway, retrying({}), {});
    expect(gateway.calls).toHaveLength(4);
  });

  it('is not used without a retry', async () => {
    const gateway = newHarness({ retryBudget: { percent: 0, floor: 0 } });
    gateway.script(bad);
    expect(await ask(gateway, { provider: '@one' })).toMatchObject({ status: 503, retries: '0' });
    expect(gateway.records[0]?.decisions).toBeUndefined();
  });
});

it('retries: an error that the caller caused is not retried, although the config lists its status', () => {
  const retry = { attempts: 1, statusCodes: [413], useRetryAfter: false, attemptTimeMs: null, totalTimeMs: null };
  const last = { status: 413, ok: false };
  expect(mayRetry(retry, { ...last, error: null })).toBe(true);
  expect(mayRetry(retry, { ...last, error: new GatewayError('body_too_large') })).toBe(false);
});
