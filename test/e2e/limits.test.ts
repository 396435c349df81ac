import { afterAll, afterEach, expect, it } from 'vitest';
import { type FreshReply, onFreshConnection } from '../support/clients/fresh-connection.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';
import { reply } from '../support/upstream/fake-upstream.ts';

const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] };
const chatPath = '/v1/chat/completions';

/** One product for all tests with one gateway process, one for all with two. */
const started = new Map<number, Promise<GatewayWithUpstream>>();
afterEach(async () => {
  for (const gateway of started.values()) (await gateway).upstream.reset();
});
afterAll(async () => {
  for (const gateway of started.values()) await (await gateway).close();
});

async function start(processes: number): Promise<GatewayWithUpstream> {
  let gateway = started.get(processes);
  if (!gateway) {
    gateway = startGatewayWithUpstream({ env: { GATEWAY_PROCESSES: String(processes) } });
    started.set(processes, gateway);
  }
  const running = await gateway;
  await until(() => running.pidsOf('gateway').length === processes, { what: `${processes} gateway processes` });
  return running;
}

const ask = (gateway: GatewayWithUpstream, key: string): Promise<FreshReply> =>
  onFreshConnection(gateway.origin + chatPath, {
    headers: { 'x-svc-api-key': key, 'x-svc-provider': '@oai' },
    body,
  });

/** Sends this many requests, some at a time, each on a connection of its own. */
async function hammer(gateway: GatewayWithUpstream, key: string, count: number): Promise<FreshReply[]> {
  const replies: FreshReply[] = [];
  let left = count;
  const worker = async () => {
    while (left-- > 0) replies.push(await ask(gateway, key));
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return replies;
}

const count = (replies: readonly FreshReply[], status: number): number => replies.filter((one) => one.status === status).length;

it('limits: two processes together admit exactly the requests of a key’s limit', async () => {
  const gateway = await start(2);
  const limit = [{ type: 'requests', unit: 'rpd', value: 100 }];
  const { key } = await gateway.admin.createKey({ rate_limits: limit });

  const replies = await hammer(gateway, key, 400);

  expect([count(replies, 200), count(replies, 429)]).toEqual([100, 300]);
  expect(gateway.upstream.requests.filter((request) => request.path === chatPath)).toHaveLength(100);
  const denied = replies.find((reply) => reply.status === 429) as FreshReply;
  expect(JSON.parse(denied.body).error).toMatchObject({ type: 'api_key_rate_limit_error', code: '05' });
  expect(denied.headers).toMatchObject({ 'x-ratelimit-limit-requests': '100', 'x-ratelimit-remaining-requests': '0' });
  expect(Number(denied.headers['retry-after'])).toBeGreaterThan(0);
});

it('rate limits: the units of a killed process return when its successor starts, and none is granted twice', async () => {
  const gateway = await start(2);
  const { key } = await gateway.admin.createKey({ rate_limits: [{ type: 'requests', unit: 'rpd', value: 200 }] });
  const before = await hammer(gateway, key, 60);
  process.kill(gateway.pidsOf('gateway')[0] as number, 'SIGKILL');
  await until(() => gateway.pidsOf('gateway').length === 2, { what: 'the process started again' });
  const after: FreshReply[] = [];
  for (const one of await Promise.allSettled(Array.from({ length: 400 }, () => ask(gateway, key)))) {
    if (one.status === 'fulfilled') after.push(one.value);
  }
  await until(
    async () => {
      after.push(...(await Promise.all(Array.from({ length: 20 }, () => ask(gateway, key)))));
      return count([...before, ...after], 200) >= 200;
    },
    { what: 'the units of the killed process', deadlineMs: 30_000 },
  );
  after.push(...(await hammer(gateway, key, 40)));
  expect(count([...before, ...after], 200)).toBe(200);
});

it('limits: budget units of a killed process are free after its successor has shipped its records', async () => {
  const gateway = await start(1);
  const { key } = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 10_000 } });
  gateway.upstream.always(reply(200, JSON.stringify(replyOf(100)), { 'content-type': 'application/json' }));
  const send = (maxTokens: number): Promise<FreshReply> =>
    onFreshConnection(gateway.origin + chatPath, {
      headers: { 'x-svc-api-key': key, 'x-svc-provider': '@oai' },
      body: { ...body, max_tokens: maxTokens },
    });
  expect((await send(10)).status).toBe(200);
  const [killed] = gateway.pidsOf('gateway');
  process.kill(killed as number, 'SIGKILL');
  await until(() => gateway.pidsOf('gateway').some((pid) => pid !== killed), { what: 'the process started again' });
  // The killed process held a quarter of the budget. All of it except the 100 that were spent becomes available again.
  await until(async () => (await send(9_850).catch(() => null))?.status === 200, { what: 'the units of the killed process' });
  expect((await send(9_850)).status).toBe(412);
});

it('limits: a cost budget is enforced, shown with its usage, marked when exhausted, and reset by hand', async () => {
  const gateway = await start(2);
  const usage = { type: 'cost', credit_limit: 2, alert_threshold: 1 };
  const { key, id } = await gateway.admin.createKey({ usage_limits: usage });
  const dear = (maxTokens: number): Promise<FreshReply> =>
    onFreshConnection(gateway.origin + chatPath, {
      headers: { 'x-svc-api-key': key, 'x-svc-provider': '@oai' },
      body: { model: 'gpt-4o', max_tokens: maxTokens, messages: [{ role: 'user', content: 'hello' }] },
    });
  // 10 US dollars per million tokens of output: what a request may cost at most must be left.
  expect(JSON.parse((await dear(250_000)).body).error).toMatchObject({ type: 'api_key_exhaust_error', code: '04' });
  gateway.upstream.always(reply(200, JSON.stringify(replyOf(150_000)), { 'content-type': 'application/json' }));
  // The rejected request has reserved the rest of the budget, which is returned in a moment.
  await until(async () => (await dear(150_000)).status === 200, { what: 'the units of the rejected request' });
  const read = async () => (await gateway.admin.get(`/api-keys/${id}?include_usage=true`)).body as Shown;
  const first = await until(async () => ((await read()).usage_limits.current_usage > 0 ? read() : null), {
    what: 'the settlement',
  });
  expect(first.usage_limits).toMatchObject({ current_usage: 1.5, status: 'active', is_threshold_alerts_sent: true });
  expect((await dear(100_000)).status).toBe(412);
  // More than was reserved: usage beyond the estimate is counted too.
  await until(async () => (await dear(40_000)).status === 200, { what: 'the units of the rejected request' });
  const second = await until(async () => ((await read()).status === 'exhausted' ? read() : null), { what: 'the mark' });
  expect(second.usage_limits).toMatchObject({ current_usage: 3, status: 'exhausted', is_exhausted_alerts_sent: true });
  // A process may still hold a share: it spends that and no more.
  await until(async () => (await dear(10)).status === 412, { what: 'the end of the granted units' });
  expect((await gateway.admin.put(`/api-keys/${id}`, { reset_usage: true })).status).toBe(200);
  await until(async () => (await dear(10)).status === 200, { what: 'the reset in the gateways' });
  expect(await read()).toMatchObject({ status: 'active', usage_limits: { status: 'active' } });
});

it('limits: a budget applies to pass-through requests, and counts an estimate if the reply states nothing', async () => {
  const gateway = await start(1);
  const json = { 'content-type': 'application/json' };
  const pass = (key: string, path: string): Promise<FreshReply> =>
    onFreshConnection(gateway.origin + path, { headers: { 'x-svc-api-key': key, 'x-svc-provider': '@oai' }, body });
  gateway.upstream.always(reply(200, JSON.stringify(replyOf(150)), json));
  const stated = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 440 } });
  for (const path of ['/v1/proxy/chat/completions', '/v1/fine-foo', '/v1/proxy/responses']) {
    expect((await pass(stated.key, path)).status).toBe(200);
  }
  expect(JSON.parse((await pass(stated.key, '/v1/fine-foo')).body).error).toMatchObject({ type: 'api_key_exhaust_error' });
  gateway.upstream.always(reply(200, JSON.stringify({ content: 'x'.repeat(4_000) }), json));
  const silent = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 1_000 } });
  expect((await pass(silent.key, '/v1/fine-foo')).status).toBe(200);
  expect((await pass(silent.key, '/v1/fine-foo')).status).toBe(412);
  const used = async (id: string): Promise<number> =>
    (await gateway.admin.get(`/api-keys/${id}?include_usage=true`)).body.usage_limits.current_usage;
  await until(async () => (await used(stated.id)) === 450 && (await used(silent.id)) > 1_000, { what: 'the settlement' });
  const logs = (await gateway.admin.get(`/logs?workspace_id=${gateway.workspaceId}&page_size=100`)).body.data as Logged[];
  const sources = logs
    .filter((log) => [stated.id, silent.id].includes(log.metrics.api_key_id))
    .map(({ metrics }) => metrics.usage_source);
  expect([countOf(sources, 'provider'), countOf(sources, 'estimate')]).toEqual([3, 1]);
});

const countOf = (sources: readonly (string | null)[], source: string): number => sources.filter((one) => one === source).length;

interface Logged {
  readonly metrics: { readonly api_key_id: string; readonly usage_source: string | null };
}

it('limits: a rate limit admits requests and a budget continues with its lease while the control plane is away', async () => {
  const gateway = await start(1);
  const rate = await gateway.admin.createKey({ rate_limits: [{ type: 'requests', unit: 'rpd', value: 10_000 }] });
  const budget = await gateway.admin.createKey({ usage_limits: { type: 'tokens', credit_limit: 1_000_000 } });
  const [controlPlane] = gateway.pidsOf('control-plane');
  for (const { key } of [rate, budget]) expect((await ask(gateway, key)).status).toBe(200);
  // A process gives back units of a budget that no request has touched for a second, so these requests come at once.
  const spend = () => Array.from({ length: 8 }, () => ask(gateway, budget.key));
  const underWay = spend();
  process.kill(controlPlane as number, 'SIGSTOP');
  try {
    const spent = await Promise.all([...underWay, ...spend()]);
    const passed = await hammer(gateway, rate.key, 30);
    expect([count(spent, 200), count(passed, 200)]).toEqual([16, 30]);
  } finally {
    process.kill(controlPlane as number, 'SIGCONT');
  }
});

interface Shown {
  readonly status: string;
  readonly usage_limits: { readonly current_usage: number };
}

function replyOf(outputTokens: number): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4o',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: outputTokens, total_tokens: outputTokens },
  };
}
