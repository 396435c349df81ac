import { describe, expect, it } from 'vitest';
import { parseGatewayConfig } from '../../../core/contract/plugin/config/gateway-config.ts';
import { settingNames } from '../../../core/providers/declarations.ts';
import { chatReply, createHarness, replyWith } from '../../../core/test-kit/pipeline-harness.ts';
import { roundRobinOrder } from '../../../plugins/strategies/loadbalance.ts';

type Harness = ReturnType<typeof createHarness>;

const targets = [
  { name: 'a', provider: '@one' },
  { name: 'b', provider: '@two' },
];
const body = { model: 'gpt-5', messages: [] };

/** Which target serves each request. */
async function pathsOf(
  gateway: Harness,
  config: object,
  requests: number,
  headers: Record<string, string> = {},
  sent: object = body,
): Promise<string[]> {
  const paths: string[] = [];
  for (let i = 0; i < requests; i++) {
    const reply = await gateway.send({ headers: { 'x-svc-config': JSON.stringify(config), ...headers }, body: sent as never });
    paths.push(reply.header('x-svc-last-used-option-index') ?? `status ${reply.status}`);
  }
  return paths;
}
const count = (paths: readonly string[], index: number) => paths.filter((path) => path === `config.targets[${index}]`).length;

/** A generator that is the same in every run. */
function seeded(): () => number {
  let state = 12_345;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

describe('loadbalance', () => {
  it('distributes requests by weight', async () => {
    const gateway = createHarness({ random: seeded() });
    const paths = await pathsOf(
      gateway,
      { strategy: { mode: 'loadbalance' }, targets: [{ ...targets[0], weight: 3 }, targets[1]] },
      400,
    );
    expect(count(paths, 0)).toBeGreaterThan(260);
    expect(count(paths, 1)).toBeGreaterThan(60);
    expect(count(paths, 0) + count(paths, 1)).toBe(400);
  });

  it('never chooses weight 0, not even at the edges of the draw', async () => {
    for (const random of [() => 0, () => 0.999_999_999]) {
      const gateway = createHarness({ random });
      const config = {
        strategy: { mode: 'loadbalance' },
        targets: [{ provider: '@one', weight: 0 }, { provider: '@two' }, { provider: '@one', weight: 0 }],
      };
      expect(await pathsOf(gateway, config, 3)).toEqual(Array(3).fill('config.targets[1]'));
    }
  });

  it('with round_robin takes turns, spread by weight', async () => {
    const gateway = createHarness();
    const config = {
      strategy: { mode: 'loadbalance', algorithm: 'round_robin' },
      targets: [{ ...targets[0], weight: 2 }, targets[1]],
    };
    const paths = await pathsOf(gateway, config, 6);
    expect(paths.map((path) => path.at(-2))).toEqual(['0', '1', '0', '0', '1', '0']);
  });

  it.each([
    [
      [1, 1],
      [0, 1],
    ],
    [
      [2, 1],
      [0, 1, 0],
    ],
    [[0, 1], [1]],
    [
      [5, 1, 1],
      [0, 0, 1, 0, 2, 0, 0],
    ],
  ])('loadbalance: orders weights %j as %j', (weights, order) => {
    expect(roundRobinOrder(weights)).toEqual(order);
  });

  it('loadbalance: a target with a small weight has one turn in a round', () => {
    expect(roundRobinOrder([1, 100_000]).filter((child) => child === 0)).toHaveLength(1);
  });

  it('does not fall back to another target by itself', async () => {
    const gateway = createHarness({ random: () => 0 });
    gateway.script(replyWith(500, { error: { message: 'down' } }));
    await pathsOf(gateway, { strategy: { mode: 'loadbalance' }, targets }, 1);
    expect(gateway.calls).toHaveLength(1);
  });

  it('can be a target of a fallback, with its own choice', async () => {
    const gateway = createHarness({ random: () => 0.9 });
    gateway.script(replyWith(500, {}), replyWith(200, chatReply('x')));
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@one' }, { strategy: { mode: 'loadbalance' }, targets }],
    };
    expect(await pathsOf(gateway, config, 1)).toEqual(['config.targets[1].targets[1]']);
  });

  it('keeps an identity on one target for its time, and others elsewhere', async () => {
    let now = 1_000_000_000_000;
    const gateway = createHarness({ random: seeded(), now: () => now });
    const config = {
      strategy: { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 60 } },
      targets,
    };
    const of = (user: string) => pathsOf(gateway, config, 1, { 'x-svc-metadata': JSON.stringify({ user }) });
    const users = Array.from({ length: 40 }, (_, i) => `user-${i}`);
    const first = await Promise.all(users.map(of));
    const again = await Promise.all(users.map(of));
    expect(again).toEqual(first);
    expect(new Set(first.flat()).size).toBe(2);
    now += 61_000;
    const later = await Promise.all(users.map(of));
    expect(later).not.toEqual(first);
  });

  it('loadbalance: identities are the first 65,536 characters of a value', async () => {
    const gateway = createHarness();
    const strategy = { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['params.input'] } };
    const of = (length: number, end: number) =>
      pathsOf(gateway, { strategy, targets }, 1, {}, { ...body, input: ['a'.repeat(length), `${end}`] });
    const choices = async (length: number) =>
      new Set((await Promise.all(Array.from({ length: 40 }, (_, end) => of(length, end)))).flat()).size;
    expect([await choices(65_000), await choices(66_000)]).toEqual([2, 1]);
  });

  it('loadbalance: identities do not leave their targets at the same time', async () => {
    let now = 59_999;
    const gateway = createHarness({ now: () => now });
    const strategy = { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['metadata.user'], ttl: 60 } };
    const of = (user: number) => pathsOf(gateway, { strategy, targets }, 1, { 'x-svc-metadata': `{"user":"${user}"}` });
    const choices = () => Promise.all(Array.from({ length: 40 }, (_, user) => of(user)));
    const before = await choices();
    now = 60_000;
    expect(await choices()).toEqual(before);
  });
});

describe('conditional', () => {
  const config = {
    strategy: {
      mode: 'conditional',
      conditions: [
        { query: { 'metadata.tier': 'free' }, then: 'a' },
        { query: { 'params.model': { $regex: '^claude' } }, then: 'b' },
        { query: { 'headers.x-region': 'eu', 'url.pathname': '/v1/chat/completions' }, then: 'b' },
      ],
      default: 'a',
    },
    targets,
  };

  it.each([
    ['metadata', { 'x-svc-metadata': '{"tier":"free"}' }, { ...body, model: 'claude-5' }, 0],
    ['parameters', {}, { ...body, model: 'claude-5' }, 1],
    ['headers and path', { 'x-region': 'eu' }, body, 1],
    ['nothing, so the default', {}, body, 0],
  ])('conditional: follows %s', async (_name, headers, sent, index) => {
    expect(await pathsOf(createHarness(), config, 1, headers, sent)).toEqual([`config.targets[${index}]`]);
  });

  it.each([
    ['a member', { 'params.reasoning.effort': 'low' }, '"reasoning":{"effort":"high","effort":"low"}', '"high"'],
    ['a parameter', { 'params.user': 'b' }, '"user":"first","user":"b"', '"first"'],
    ['the messages', { 'tokens.input': { $lt: 100 } }, '"messages":[{"role":"user","content":"first","content":"x"}]', '"first"'],
  ])(
    'conditional: the provider receives the value that the condition read, if %s has its name twice',
    async (_, query, text, hidden) => {
      const gateway = createHarness();
      const conditions = [{ query, then: 'b' }];
      const headers = {
        'x-svc-config': JSON.stringify({ strategy: { mode: 'conditional', conditions, default: 'a' }, targets }),
      };
      const reply = await gateway.send({ headers, body: `{"model":"gpt-5","messages":[],${text}}` });
      expect(reply.header('x-svc-last-used-option-index')).toBe('config.targets[1]');
      expect(gateway.calls.map((call) => String(call.body).includes(hidden))).toEqual([false]);
    },
  );

  it('rejects with 400 if no condition holds and there is no default', async () => {
    const gateway = createHarness();
    const { default: _default, ...strategy } = config.strategy;
    const reply = await gateway.send({ headers: { 'x-svc-config': JSON.stringify({ strategy, targets }) }, body });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('Query router did not resolve to any valid target');
  });
});

const balance = (strategy: object, changes: readonly object[] = []) => ({
  strategy: { mode: 'loadbalance', ...strategy },
  targets: targets.map((target, index) => ({ ...target, ...changes[index] })),
});
const opening = { failure_threshold: 1, cooldown_interval: 30_000 };
const conditions = [{ query: { 'params.a': 1 }, then: 'a' }];

const refusedFields: [object, string][] = [
  [
    { strategy: { mode: 'fallback', cb_config: { cooldown_interval: 30_000 } }, targets },
    'strategy.cb_config: needs failure_threshold',
  ],
  [{ strategy: { mode: 'fallback', cb_config: { failure_threshold: 1 } }, targets }, 'strategy.cb_config.cooldown_interval'],
  [
    { strategy: { mode: 'fallback', cb_config: { ...opening, failure_threshold: 0 } }, targets },
    'strategy.cb_config.failure_threshold',
  ],
  [
    { strategy: { mode: 'fallback', cb_config: { ...opening, failure_threshold_percentage: 101 } }, targets },
    'strategy.cb_config.failure_threshold_percentage',
  ],
  [{ strategy: { mode: 'fallback', cb_config: { ...opening, other: 1 } }, targets }, 'strategy.cb_config.other'],
  [
    { strategy: { mode: 'conditional', conditions, cb_config: opening }, targets },
    'strategy.cb_config: allowed with the strategies single, fallback, loadbalance only',
  ],
  [
    { strategy: { mode: 'single', outlier: {} }, targets },
    'strategy.outlier: allowed with the strategies fallback, loadbalance only',
  ],
  [{ strategy: { mode: 'fallback', outlier: { cooldown: 70_000 } }, targets }, 'strategy.outlier: max_cooldown'],
  [balance({ algorithm: 'round_robin', sticky: { enabled: true } }), 'strategy.sticky: allowed with the algorithm weighted only'],
  [balance({ algorithm: 'least_latency' }, [{ weight: 2 }]), 'targets[0].weight: least_latency does not use weights'],
  [balance({ algorithm: 'least_busy' }, [{ capacity: { rpm: 1 } }]), 'targets[0].capacity: allowed on targets of loadbalance'],
  [
    { strategy: { mode: 'fallback' }, targets: [{ ...targets[0], capacity: { rpm: 1 } }] },
    'targets[0].capacity: allowed on targets of',
  ],
  [{ provider: '@one', capacity: { rpm: 1 } }, 'capacity: allowed on targets of loadbalance'],
  [balance({ algorithm: 'priority_capacity' }), 'targets[0].capacity: required'],
  [balance({ algorithm: 'priority_capacity' }, [{ capacity: {} }]), 'targets[0].capacity: needs in_flight or rpm'],
  [balance({ algorithm: 'priority_capacity' }, [{ capacity: { in_flight: 0 } }]), 'targets[0].capacity.in_flight'],
  [{ provider: '@one', retry: { attempts: 1, max_total_time_ms: 0 } }, 'retry.max_total_time_ms'],
  [{ provider: '@one', retry: { attempts: 1, max_attempt_time_ms: 1.5 } }, 'retry.max_attempt_time_ms'],
];

it.each([
  [{ strategy: { mode: 'fallback', cb_config: { ...opening, cooldown_interval: 1000 } }, targets }],
  [{ strategy: { mode: 'single', cb_config: opening }, targets }],
  [balance({ algorithm: 'priority_capacity' }, [{ capacity: { rpm: 10 } }])],
  [balance({ algorithm: 'priority_capacity' }, [{ capacity: { rpm: 10 } }, { weight: 0 }])],
  [balance({ algorithm: 'least_busy' }, [{ weight: 2.5 }])],
  [balance({ algorithm: 'least_latency', outlier: {} }, [{ weight: 0 }])],
])('accepts %j', (config) => {
  expect(parseGatewayConfig(config, settingNames)).toMatchObject({ config });
});

describe('an invalid strategy is rejected when it is saved or sent', () => {
  it.each([
    [
      { strategy: { mode: 'loadbalance' }, targets: [{ provider: 'a', weight: 0 }] },
      'targets: at least one weight must be above 0',
    ],
    [{ strategy: { mode: 'conditional' }, targets }, 'strategy.conditions: required'],
    [
      { strategy: { mode: 'conditional', conditions: [{ query: { 'params.a': 1 }, then: 'z' }] }, targets },
      'conditions[0].then: no target has the name z',
    ],
    [
      { strategy: { mode: 'conditional', conditions: [{ query: { 'params.a': { $x: 1 } }, then: 'a' }], default: 'y' }, targets },
      'query.params.a.$x: is not an operator',
    ],
    [{ strategy: { mode: 'fallback', default: 'a' }, targets }, 'strategy.default: allowed with the strategy conditional only'],
    [
      { strategy: { mode: 'single', algorithm: 'round_robin' }, targets },
      'strategy.algorithm: allowed with the strategy loadbalance only',
    ],
    [{ strategy: { mode: 'loadbalance', algorithm: 'fastest' }, targets }, 'strategy.algorithm'],
    ...refusedFields,
    [{ strategy: { mode: 'fallback' } }, 'targets: required when strategy is set'],
  ])('%j', (config, message) => {
    const result = parseGatewayConfig(config, settingNames);
    expect('errors' in result ? result.errors.join('\n') : '').toContain(message);
  });
});
