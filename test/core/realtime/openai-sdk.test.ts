import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createServer, type Server } from 'node:tls';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeRealtime, startFakeRealtime } from '../../support/fakes/fake-realtime.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { within } from '../../support/until.ts';

/** The official client supports only `wss:`, so a proxy in front of the gateway terminates TLS, as in many installations. */
let tls: Server;
let provider: FakeRealtime;
let gateway: SharedGateway;
const pem = (name: string) => readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url));

beforeAll(async () => {
  provider = await startFakeRealtime();
  gateway = await shareGateway();
  await gateway.admin.createUpstream('oai', `${provider.origin}/v1`, { key: 'sk-stored' });
  tls = createServer({ cert: pem('cert'), key: pem('key') }, (socket) => {
    const inner = connect(gateway.port, '127.0.0.1');
    socket.pipe(inner).pipe(socket);
    socket.on('error', () => inner.destroy());
    inner.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  tls?.close();
  await provider?.close();
});

it('the official client can run a session', async () => {
  const { port } = tls.address() as { port: number };
  const client = new OpenAI({ apiKey: gateway.workspaceKey, baseURL: `https://127.0.0.1:${port}/v1` });
  provider.onSession = ({ socket }) => {
    socket.send(
      JSON.stringify({ type: 'session.created', event_id: 'e1', session: { type: 'realtime', model: 'gpt-realtime' } }),
    );
    socket.on('message', (data) => {
      const event = JSON.parse(String(data));
      if (event.type !== 'response.create') return;
      for (const delta of ['Hel', 'lo'])
        socket.send(
          JSON.stringify({ type: 'response.output_text.delta', event_id: 'e2', delta, response_id: 'r', item_id: 'i' }),
        );
      socket.send(
        JSON.stringify({
          type: 'response.done',
          event_id: 'e3',
          response: { id: 'r', usage: { input_tokens: 1, output_tokens: 2 } },
        }),
      );
    });
  };
  const realtime = new OpenAIRealtimeWS({ model: '@oai/gpt-realtime', options: { rejectUnauthorized: false } }, client);
  const text: string[] = [];
  const done = new Promise<void>((resolve, reject) => {
    realtime.on('error', reject);
    realtime.on('session.created', () => realtime.send({ type: 'response.create' }));
    realtime.on('response.output_text.delta', (event) => void text.push(event.delta));
    realtime.on('response.done', () => resolve());
  });
  await within(done, 'the end of a response');
  expect(text.join('')).toBe('Hello');
  const closed = new Promise<number>((resolve) => realtime.socket.on('close', resolve));
  realtime.close();
  const session = await provider.nextSession();
  expect(await closed).toBe(1000);
  expect((await session.closed).code).toBe(1000);
  expect(session.handshake.path).toBe('/v1/realtime?model=gpt-realtime');
  expect(session.handshake.headers.authorization).toBe('Bearer sk-stored');
});
