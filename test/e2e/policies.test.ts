import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FreshReply, onFreshConnection } from '../support/clients/fresh-connection.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';
import { reply } from '../support/upstream/fake-upstream.ts';

const chatPath = '/v1/chat/completions';
const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user' as const, content: 'hello' }] };

let gateway: GatewayWithUpstream;
beforeAll(async () => {
  gateway = await startGatewayWithUpstream({ env: { GATEWAY_PROCESSES: '3' } });
  await until(() => gateway.pidsOf('gateway').length === 3, { what: '3 gateway processes' });
});
afterEach(() => gateway.upstream.reset());
afterAll(() => gateway?.close());

let markers = 0;

/** Creates a policy for calls of one team, with one counter, and waits until every process applies it. */
async function create(kind: 'usage' | 'rate', team: string, fields: object): Promise<string> {
  const id = await post(kind, team, fields);
  // A process that applies the later policy also has the earlier one.
  const marker = `marker-${++markers}`;
  await post('rate', marker, { type: 'requests', unit: 'rpd', value: 1 });
  await until(async () => count(await hammer(marker, 40), 429) === 40, { what: 'the policy in all processes' });
  gateway.upstream.reset();
  return id;
}

async function post(kind: 'usage' | 'rate', team: string, fields: object): Promise<string> {
  const shared = { conditions: [{ key: 'metadata.team', value: team }], group_by: [{ key: 'metadata.team' }] };
  const made = await gateway.admin.call('POST', `/policies/${kind}-limits`, { ...shared, ...fields });
  expect(made.status).toBe(200);
  return made.body.id;
}

const ask = (team: string): Promise<FreshReply> =>
  onFreshConnection(gateway.origin + chatPath, {
    headers: { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': '@oai', 'x-svc-metadata': JSON.stringify({ team }) },
    body,
  });

/** Statuses of this many requests. One that the ledger could not decide in time (503) is sent again, as its reply asks. */
async function hammer(team: string, count: number): Promise<number[]> {
  const statuses: number[] = [];
  let left = count;
  const decided = async (): Promise<number> => {
    for (;;) {
      const { status } = await ask(team);
      if (status !== 503) return status;
    }
  };
  const worker = async () => {
    while (left-- > 0) statuses.push(await decided());
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return statuses;
}
const count = (statuses: readonly number[], status: number): number => statuses.filter((one) => one === status).length;

describe('policies with three gateway processes', () => {
  it('rate limits: admit exactly their number of requests, also for other groups', async () => {
    await create('rate', 'exact', { type: 'requests', unit: 'rpd', value: 60 });
    const statuses = await hammer('exact', 200);
    expect([count(statuses, 200), count(statuses, 429)]).toEqual([60, 140]);
    expect(gateway.upstream.requests.filter((request) => request.path === chatPath)).toHaveLength(60);
    expect((await ask('another')).status).toBe(200);
  });

  it('budgets of requests: admit exactly their number, list the counter as exhausted, and follow a reset', async () => {
    // A name of its own, because a repetition would find the counter of the first run.
    const team = `budget-${++markers}`;
    const id = await create('usage', team, { type: 'requests', credit_limit: 40, alert_threshold: 30 });
    const statuses = await hammer(team, 100);
    expect([count(statuses, 200), count(statuses, 412)]).toEqual([40, 60]);
    const path = `/policies/usage-limits/${id}`;
    const exhausted = async () =>
      (await gateway.admin.call('GET', `${path}/entities?status=exhausted&search=${team.toUpperCase()}`)).body;
    await until(async () => (await exhausted()).total === 1, { what: 'the exhausted counter' });
    const [counter] = (await exhausted()).data;
    expect(counter).toMatchObject({ value_key: `metadata.team:${team}`, current_usage: 40, status: 'exhausted' });
    const read = (await gateway.admin.call('GET', `${path}?include_usage=true`)).body;
    expect(read.value_key_usage_map).toEqual({
      [`metadata.team:${team}`]: {
        current_usage: 40,
        status: 'exhausted',
        is_threshold_alerts_sent: true,
        is_exhausted_alerts_sent: true,
      },
    });

    const resets = [
      () => gateway.admin.call('PUT', `${path}/entities/${counter.id}/reset`, {}),
      () => gateway.admin.call('PUT', path, { reset_usage_for_value: `metadata.team:${team}` }),
    ];
    for (const reset of resets) {
      expect((await reset()).status).toBe(200);
      const again: number[] = [];
      await until(
        async () => {
          again.push(...(await hammer(team, 40)));
          return count(again, 200) >= 40;
        },
        { what: 'the units after the reset' },
      );
      again.push(...(await hammer(team, 60)));
      expect(count(again, 200)).toBe(40);
      // Otherwise the records of these calls would arrive after the next reset.
      await until(async () => (await exhausted()).data[0]?.current_usage === 40, { what: 'the records of all calls' });
    }
  });

  it.each([1, 8])(
    'budgets of tokens: calls beyond max_tokens, %i at a time, exceed them at most as documented',
    async (atOnce) => {
      const [limit, usedByCall] = [5_000, 300];
      const team = `ignores-maximum-${++markers}`;
      await create('usage', team, { type: 'tokens', credit_limit: limit });
      const usage = { prompt_tokens: 5, completion_tokens: usedByCall - 5, total_tokens: usedByCall };
      const spent = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [], usage };
      gateway.upstream.always(reply(200, JSON.stringify(spent), { 'content-type': 'application/json' }));
      const statuses: number[] = [];
      const worker = async () => {
        while (count(statuses, 412) < 60) statuses.push((await ask(team)).status);
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      const used = count(statuses, 200) * usedByCall;
      // Processes, calls in flight in each, and what a call uses beyond the maximum that it states.
      const bound = 3 * atOnce * (usedByCall - body.max_tokens);
      expect(used).toBeGreaterThanOrEqual(limit);
      expect(used - limit).toBeLessThanOrEqual(bound);
      expect(count(await hammer(team, 60), 412)).toBe(60);
    },
  );

  it('an archived policy applies no more', async () => {
    const id = await create('usage', 'archive', { type: 'requests', credit_limit: 1 });
    expect(count(await hammer('archive', 20), 200)).toBe(1);
    expect((await gateway.admin.call('DELETE', `/policies/usage-limits/${id}`)).status).toBe(200);
    await until(async () => count(await hammer('archive', 12), 200) === 12, { what: 'requests without the policy' });
  });

  it('the units of a killed process are not handed out twice', async () => {
    await create('usage', 'kill', { type: 'requests', credit_limit: 120 });
    const before = await hammer('kill', 40);
    process.kill(gateway.pidsOf('gateway')[0] as number, 'SIGKILL');
    await until(() => gateway.pidsOf('gateway').length === 3, { what: 'the process started again' });
    const after: number[] = [];
    await until(
      async () => {
        const replies = await Promise.allSettled(Array.from({ length: 20 }, () => ask('kill')));
        for (const one of replies) if (one.status === 'fulfilled') after.push(one.value.status);
        return count([...before, ...after], 200) >= 120;
      },
      { what: 'the units of the killed process', deadlineMs: 60_000 },
    );
    after.push(...(await hammer('kill', 40)));
    expect(count([...before, ...after], 200)).toBe(120);
  });
});

describe('policies and the OpenAI SDK', () => {
  const client = (team: string) =>
    new OpenAI({
      apiKey: gateway.workspaceKey,
      baseURL: `${gateway.origin}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'x-svc-provider': '@oai', 'x-svc-metadata': JSON.stringify({ team }) },
    });

  it('a rate limit is a RateLimitError that names the policy', async () => {
    const id = await create('rate', 'sdk', { type: 'requests', unit: 'rpd', value: 1 });
    await client('sdk').chat.completions.create(body);
    const error = await client('sdk')
      .chat.completions.create(body)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpenAI.RateLimitError);
    expect(error).toMatchObject({
      status: 429,
      type: 'rate_limits_policy_exhaust_error',
      message: expect.stringContaining(`Rate Limit Policy ${id} exceeded for value key metadata.team:sdk`),
    });
    const { headers } = error as InstanceType<typeof OpenAI.RateLimitError>;
    expect(headers.get('x-ratelimit-limit-requests')).toBe('1');
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('an exhausted budget is a 412 with code 06, also for streams', async () => {
    const id = await create('usage', 'sdk-budget', { type: 'tokens', credit_limit: 100 });
    const spent = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [] };
    const usage = { prompt_tokens: 50, completion_tokens: 50, total_tokens: 100 };
    gateway.upstream.always(reply(200, JSON.stringify({ ...spent, usage }), { 'content-type': 'application/json' }));
    await client('sdk-budget').chat.completions.create(body);
    // Another process may admit one more request before the ledger has the usage of the first.
    const error = await until(() =>
      client('sdk-budget')
        .chat.completions.create({ ...body, stream: true })
        .then(
          (stream) => {
            stream.controller.abort();
            return false as const;
          },
          (thrown: unknown) => thrown as object,
        ),
    );
    expect(error).toMatchObject({ status: 412, type: 'usage_limits_policy_exhaust_error', code: '06' });
    expect(String(error)).toContain(`Usage Limits Policy ${id} Exceeded for value key metadata.team:sdk-budget`);
  });
});
