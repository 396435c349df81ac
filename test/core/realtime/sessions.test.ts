import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FakeRealtime, startFakeRealtime } from '../../support/fake-realtime.ts';
import { openSession } from '../../support/session-client.ts';
import { type RunningGateway, startGateway } from '../../support/start-gateway.ts';
import { until } from '../../support/until.ts';

let provider: FakeRealtime;
let gateway: RunningGateway;
let url: string;

beforeAll(async () => {
  provider = await startFakeRealtime();
  gateway = await startGateway();
  await gateway.admin.createUpstream('oai', `${provider.origin}/v1`, { key: 'sk-stored' });
  url = `ws://127.0.0.1:${gateway.port}/v1/realtime?model=@oai/gpt-realtime`;
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
});

test('messages pass both ways as they are', async () => {
  const client = await openSession(url, { 'x-svc-api-key': gateway.workspaceKey });
  const session = await provider.nextSession();
  client.socket.send('{"type":"session.update"}');
  client.socket.send(Buffer.from([0, 1, 2, 255]));
  session.socket.send('{"type":"session.updated"}');
  await client.received(1);
  await until(() => session.messages.length === 2);
  expect(session.messages).toEqual(['{"type":"session.update"}', Buffer.from([0, 1, 2, 255])]);
  expect(client.messages).toEqual(['{"type":"session.updated"}']);
  console.log(client.headers, session.handshake);
  client.socket.close(1000, 'done');
  expect(await session.closed).toEqual({ code: 1000, reason: 'done' });
  expect((await client.closed).code).toBe(1000);
});
