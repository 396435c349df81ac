import { beforeEach, describe, expect, it } from 'vitest';
import type { UpstreamHandler } from '../../../core/contract/provider/upstream.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  type FakeSink,
  type Harness,
  replyWith,
  type Script,
} from '../../../core/test-kit/pipeline-harness.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { until } from '../../support/until.ts';

const body = { model: 'gpt-5', messages: [] };
const good = replyWith(200, chatReply('ok'));
const targets = [{ provider: '@one' }, { provider: '@two' }, { provider: '@claude' }];

let time: FakeTime;
let random: number[];
beforeEach(() => {
  time = newFakeTime();
  random = [];
});

const newHarness = (options: Parameters<typeof createHarness>[0] = {}) =>
  createHarness({ now: time.clock.now, elapsed: time.clock.elapsed, random: () => random.shift() ?? 0.5, ...options });

const configOf = (algorithm: string, changes: readonly JsonObject[] = []): JsonObject => ({
  strategy: { mode: 'loadbalance', algorithm },
  targets: targets.slice(0, Math.max(2, changes.length)).map((target, index) => ({ ...target, ...changes[index] })),
});

/** Sends one request and returns the index of the target that served it. */
async function ask(gateway: Harness, config: JsonObject, more: JsonObject = {}): Promise<number> {
  const reply = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config) }, body: { ...body, ...more } });
  return indexIn(reply);
}
const indexIn = (reply: FakeSink): number => Number(/\[(\d)\]/.exec(reply.header('x-svc-last-used-option-index') ?? '')?.[1]);

/** Replies after this time. */
const taking =
  (ms: number, script: Script = good): Script =>
  (call, handler) => {
    time.advance(ms);
    script(call, handler);
  };

/** Requests that are held at their provider, in the order in which they got there. */
function hold(gateway: Harness): { handler: UpstreamHandler; done: Promise<number> }[] {
  const held: { handler: UpstreamHandler; done: Promise<number> }[] = [];
  gateway.script((_call, handler) => void held.push({ handler, done: Promise.resolve(0) }));
  return held;
}
async function holdOne(gateway: Harness, held: ReturnType<typeof hold>, config: JsonObject): Promise<void> {
  const before = held.length;
  const done = ask(gateway, config);
  await until(() => held.length > before, { what: 'the request at its provider' });
  (held[before] as { done: Promise<number> }).done = done;
}
async function release(held: { handler: UpstreamHandler; done: Promise<number> } | undefined): Promise<number> {
  good(undefined as never, held?.handler as UpstreamHandler);
  return (held as { done: Promise<number> }).done;
}

describe('least_busy', () => {
  it('chooses the target with the fewest requests in flight', async () => {
    const gateway = newHarness();
    const config = configOf('least_busy');
    const held = hold(gateway);
    random = [0];
    await holdOne(gateway, held, config);
    await holdOne(gateway, held, config);
    expect([await release(held[0]), await release(held[1])]).toEqual([0, 1]);
  });

  it('respects weights', async () => {
    const gateway = newHarness({ random: () => 0 });
    const config = configOf('least_busy', [{ weight: 2 }, { weight: 1 }]);
    const held = hold(gateway);
    for (let i = 0; i < 6; i++) await holdOne(gateway, held, config);
    const indices = await Promise.all(held.map(release));
    expect(indices.filter((index) => index === 0)).toHaveLength(4);
  });

  it('forgets requests whose client has disconnected', async () => {
    const gateway = newHarness({ random: () => 0 });
    const config = configOf('least_busy');
    gateway.script(() => sink?.leave());
    let sink: FakeSink | null = null;
    const headers = { 'x-svc-config': JSON.stringify(config) };
    await gateway.send({ headers, body, prepare: (given) => (sink = given) });
    gateway.script(good);
    expect(await ask(gateway, config)).toBe(0);
  });
});

describe('least_latency', () => {
  it('calls each target once, and then the fastest', async () => {
    const gateway = newHarness();
    const config = configOf('least_latency', [{}, {}, {}]);
    const msOf = [300, 100, 200];
    const seen: number[] = [];
    for (let i = 0; i < 6; i++) {
      gateway.script((call, handler) => taking(msOf[targetOf(call.path, call.headers)] as number)(call, handler));
      seen.push(await ask(gateway, config));
    }
    expect(seen.slice(0, 3).sort()).toEqual([0, 1, 2]);
    expect(seen.slice(3)).toEqual([1, 1, 1]);
    function targetOf(path: string, headers: readonly string[]): number {
      if (path.endsWith('/messages')) return 2;
      return headers.includes('Bearer sk-one') ? 0 : 1;
    }
  });

  async function warmUp(gateway: Harness, config: JsonObject): Promise<void> {
    random = [0, 0];
    gateway.script(taking(100));
    expect(await ask(gateway, config)).toBe(0);
    gateway.script(taking(200));
    expect(await ask(gateway, config)).toBe(1);
  }

  it('follows a target that becomes slower than another', async () => {
    const gateway = newHarness();
    const config = configOf('least_latency');
    await warmUp(gateway, config);
    gateway.script(taking(1000));
    expect(await ask(gateway, config)).toBe(0);
    expect(await ask(gateway, config)).toBe(1);
  });

  it('sometimes calls another target', async () => {
    const gateway = newHarness();
    const config = configOf('least_latency');
    await warmUp(gateway, config);
    gateway.script(taking(100));
    random = [0.5, 0.04, 0];
    expect(await ask(gateway, config)).toBe(1);
    random = [0.5, 0.06];
    expect(await ask(gateway, config)).toBe(0);
  });

  it('measures a target again after a minute without measurement', async () => {
    const gateway = newHarness();
    const config = configOf('least_latency');
    await warmUp(gateway, config);
    gateway.script(taking(100));
    time.advance(59_850);
    expect(await ask(gateway, config)).toBe(0);
    time.advance(200);
    expect(await ask(gateway, config)).toBe(1);
  });

  it.each([500, 401, 403, 429])('does not treat a target that fails at once with %d as fast', async (status) => {
    const gateway = newHarness();
    const config = configOf('least_latency');
    await warmUp(gateway, config);
    gateway.script(replyWith(status, {}));
    expect(await ask(gateway, config)).toBe(0);
    gateway.script(taking(200));
    expect(await ask(gateway, config)).toBe(1);
  });

  it('ignores errors of the caller', async () => {
    const gateway = newHarness();
    const config = configOf('least_latency');
    await warmUp(gateway, config);
    gateway.script(taking(5000, replyWith(400, {})));
    expect([await ask(gateway, config), await ask(gateway, config)]).toEqual([0, 0]);
  });

  it('measures streams by their first byte, separately from whole replies', async () => {
    const gateway = newHarness();
    const config = configOf('least_latency');
    await warmUp(gateway, config);
    const slowToBegin: Script = (call, handler) => taking(500, chatStream(['a']))(call, handler);
    const slowToEnd: Script = (call, handler) => {
      const ends = () => {
        time.advance(10_000);
        handler.onEnd();
      };
      chatStream(['a'])(call, { ...handler, onEnd: ends });
    };
    random = [0, 0];
    gateway.script(slowToBegin);
    expect(await ask(gateway, config, { stream: true })).toBe(0);
    gateway.script(slowToEnd);
    expect(await ask(gateway, config, { stream: true })).toBe(1);
    expect(await ask(gateway, config, { stream: true })).toBe(1);
    gateway.script(good);
    expect(await ask(gateway, config)).toBe(0);
  });
});

describe('priority_capacity', () => {
  it('fills the targets in order by concurrent requests, and returns when there is room', async () => {
    const gateway = newHarness();
    const config = configOf('priority_capacity', [{ capacity: { in_flight: 2 } }, { capacity: { in_flight: 1 } }, {}]);
    const held = hold(gateway);
    for (let i = 0; i < 5; i++) await holdOne(gateway, held, config);
    const [first, ...rest] = held;
    expect(await release(first)).toBe(0);
    await holdOne(gateway, held, config);
    const indices = await Promise.all([...rest, held[5]].map(release));
    // The last target has no limit.
    expect(indices).toEqual([0, 1, 2, 2, 0]);
    expect(gateway.records.find((record) => record.targetPath === 'config.targets[2]')?.decisions).toEqual([
      { targetPath: 'config.targets[0]', decision: 'at_capacity' },
      { targetPath: 'config.targets[1]', decision: 'at_capacity' },
    ]);
  });

  it('fills the targets in order by requests per minute, over a sliding minute', async () => {
    const gateway = newHarness();
    const config = configOf('priority_capacity', [{ capacity: { rpm: 2 } }, {}]);
    time.advance(30_000);
    const seen: number[] = [];
    for (let i = 0; i < 4; i++) seen.push(await ask(gateway, config));
    expect(seen).toEqual([0, 0, 1, 1]);
    // A quarter into the next minute three quarters of the two still count.
    time.advance(45_000);
    expect(await ask(gateway, config)).toBe(1);
    time.advance(15_000);
    expect([await ask(gateway, config), await ask(gateway, config)]).toEqual([0, 1]);
    time.advance(120_000);
    expect([await ask(gateway, config), await ask(gateway, config), await ask(gateway, config)]).toEqual([0, 0, 1]);
  });

  it('spreads excess requests over all by relative load', async () => {
    const gateway = newHarness();
    const config = configOf('priority_capacity', [{ capacity: { in_flight: 2 } }, { capacity: { in_flight: 1 } }]);
    const held = hold(gateway);
    for (let i = 0; i < 6; i++) await holdOne(gateway, held, config);
    expect(await Promise.all(held.map(release))).toEqual([0, 0, 1, 0, 1, 0]);
  });

  it('divides a machine’s capacity among its gateway processes, at least one each', async () => {
    const gateway = newHarness({ processes: 4 });
    const config = configOf('priority_capacity', [{ capacity: { in_flight: 9 } }, { capacity: { in_flight: 1 } }, {}]);
    const held = hold(gateway);
    for (let i = 0; i < 4; i++) await holdOne(gateway, held, config);
    expect(await Promise.all(held.map(release))).toEqual([0, 0, 1, 2]);
  });

  it('never calls a target of weight 0', async () => {
    const gateway = newHarness();
    const config = configOf('priority_capacity', [{ weight: 0 }, { capacity: { in_flight: 1 } }, {}]);
    gateway.script(good);
    expect(await ask(gateway, config)).toBe(1);
  });
});
