import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LoneGateway, startLoneGateway } from '../support/product/lone-gateway.ts';
import { until } from '../support/until.ts';

let gateway: LoneGateway;

beforeAll(async () => {
  gateway = await startLoneGateway({ SPOOL_MAX: '1048576' });
  gateway.putProvider('mock', 'mock', {});
});
afterAll(() => gateway?.close());

const call = () =>
  gateway.call('/chat/completions', { body: { model: '@mock/echo', messages: [{ role: 'user', content: 'hello' }] } });
const isRejected = async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, call));
  await Promise.all(replies.map((reply) => reply.arrayBuffer()));
  return replies.some(({ status }) => status === 503);
};

it('failure table: with a full spool requests get 503 and the gateway is not ready, until records are shipped', async () => {
  const first = await call();
  expect([first.status, await first.json()]).toEqual([200, expect.objectContaining({ object: 'chat.completion' })]);
  await gateway.plane.stop();
  // A record takes over 500 bytes, so 2,200 calls fill the spool.
  let batches = 0;
  while (!(await isRejected())) expect(++batches).toBeLessThan(110);

  const rejected = await call();
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await rejected.json()).toMatchObject({
    error: { message: expect.stringContaining('cannot store further request records') },
  });
  const ready = await fetch(`${gateway.origin}/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({
    reasons: [{ dependency: 'records', message: expect.stringContaining('The spool is full') }],
  });

  await gateway.plane.restart();
  await until(async () => (await fetch(`${gateway.origin}/ready`)).status === 200, {
    what: 'a ready gateway',
    deadlineMs: 20_000,
  });
  const again = await call();
  expect(again.status).toBe(200);
  await again.arrayBuffer();
});
