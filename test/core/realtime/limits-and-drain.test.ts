import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSession, RefusedHandshake } from '../../support/clients/session-client.ts';
import { type FakeRealtime, startFakeRealtime } from '../../support/fakes/fake-realtime.ts';
import { type LoneGateway, startLoneGateway } from '../../support/product/lone-gateway.ts';
import { newProductDatabase } from '../../support/product/product-database.ts';
import { startGateway } from '../../support/product/start-gateway.ts';
import { until, within } from '../../support/until.ts';

let provider: FakeRealtime;
beforeAll(async () => {
  provider = await startFakeRealtime();
});
afterAll(() => provider?.close());

/** Runs against one gateway process with these settings. */
async function withGateway(env: Record<string, string>, use: (gateway: LoneGateway) => Promise<void>): Promise<void> {
  const gateway = await startLoneGateway(env);
  try {
    gateway.putProvider('oai', 'openai', { settings: { custom_host: `${provider.origin}/v1` } });
    await use(gateway);
  } finally {
    await gateway.close();
  }
}

async function openAt(origin: string, key: string) {
  const client = await openSession(`${origin.replace('http', 'ws')}/v1/realtime?model=@oai/m`, { 'x-svc-api-key': key });
  return { client, session: await provider.nextSession() };
}

const open = (gateway: LoneGateway) => openAt(gateway.origin, gateway.key);

it('sessions: more than REALTIME_SESSIONS_MAX are rejected with 503 until one of them ends', async () => {
  await withGateway({ REALTIME_SESSIONS_MAX: '1' }, async (gateway) => {
    const first = await open(gateway);
    const refused = await open(gateway).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RefusedHandshake);
    expect((refused as RefusedHandshake).json.error.code).toBe('overloaded');
    expect((refused as RefusedHandshake).headers['retry-after']).toBe('1');
    first.client.socket.close(1000);
    await first.session.closed;
    const second = await until(() => open(gateway));
    second.client.socket.terminate();
  });
});

it('sessions: an idle one is closed on both sides, an active one is not', async () => {
  await withGateway({ REALTIME_IDLE_TIMEOUT: '400' }, async (gateway) => {
    const { client, session } = await open(gateway);
    const speaking = await open(gateway);
    const talk = setInterval(() => speaking.client.socket.send('x'), 50);
    expect(await client.closed).toEqual({ code: 1001, reason: 'The session was idle for too long' });
    expect((await session.closed).code).toBe(1001);
    expect(speaking.client.socket.readyState).toBe(speaking.client.socket.OPEN);
    clearInterval(talk);
    expect((await speaking.client.closed).code).toBe(1001);
  });
});

it('sessions: one is closed on both sides when its time limit is reached, even if active', async () => {
  await withGateway({ REALTIME_SESSION_TIMEOUT: '400' }, async (gateway) => {
    const { client, session } = await open(gateway);
    const talk = setInterval(() => client.socket.send('x'), 50);
    expect(await client.closed).toEqual({ code: 1001, reason: 'The session has reached its time limit' });
    expect((await session.closed).code).toBe(1001);
    clearInterval(talk);
  });
});

it('sessions: after a stop signal they continue for the grace period, are closed with 1001, and leave one record each', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-sessions-'));
  const database = await newProductDatabase(dataDir);
  const gateway = await startGateway({ dataDir, env: { ...database.env, REALTIME_DRAIN_TIMEOUT: '1500' } });
  try {
    await gateway.admin.createUpstream('oai', `${provider.origin}/v1`);
    const { client, session } = await openAt(gateway.origin, gateway.workspaceKey);
    const traceId = String(client.headers['x-svc-trace-id']);
    const stopped = gateway.stop();
    // The port closes first. From then on the process is stopping, and the session still works.
    await until(() =>
      fetch(`${gateway.origin}/health`).then(
        () => false,
        () => true,
      ),
    );
    session.socket.send(JSON.stringify({ type: 'response.done', response: { usage: { input_tokens: 8, output_tokens: 9 } } }));
    await client.received(1);
    expect(await within(client.closed, 'the close')).toEqual({ code: 1001, reason: 'The gateway is shutting down' });
    expect((await session.closed).code).toBe(1001);
    expect(await stopped).toBe(0);

    const again = await startGateway({ dataDir, env: database.env });
    try {
      const list = await until(async () => {
        const reply = await again.admin.get(`/logs?trace_id=${traceId}`);
        return reply.body.data.length > 0 && reply.body.data[0].outcome !== 'open' && reply.body;
      });
      expect(list.data).toHaveLength(1);
      expect(list.data[0]).toMatchObject({
        outcome: 'cut',
        error: { code: 'draining' },
        session: { close_code: 1001, closed_by: 'gateway' },
        metrics: { req_units: 8, res_units: 9 },
      });
    } finally {
      await again.stop();
    }
  } finally {
    await gateway.stop();
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
