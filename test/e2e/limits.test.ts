import { afterEach, expect, it } from 'vitest';
import { type FreshReply, onFreshConnection } from '../support/fresh-connection.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/gateway-with-upstream.ts';
import { until } from '../support/until.ts';

const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] };
const chatPath = '/v1/chat/completions';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(): Promise<GatewayWithUpstream> {
  const gateway = await startGatewayWithUpstream({ env: { GATEWAY_PROCESSES: '2' } });
  closers.push(() => gateway.close());
  await until(() => gateway.pidsOf('gateway').length === 2, { what: 'two processes' });
  return gateway;
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

it('two processes together admit exactly as many requests as the limit of a key says', async () => {
  const gateway = await start();
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
