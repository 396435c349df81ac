import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createBusChannel } from '../../../../core/compose/notice-channels.ts';
import { createNatsBus } from '../../../../core/documents/nats-bus.ts';
import { createPeers, type PeerNotice } from '../../../../core/mcp/peers/peers.ts';
import { newMemoryLog } from '../../../support/fakes/memory-log.ts';
import { type NatsServer, natsMissing, newNatsServer } from '../../../support/processes/nats-server.ts';
import { until } from '../../../support/until.ts';

const key = new Uint8Array(32).fill(7);

if (natsMissing) console.warn(`skipped: messages between machines (${natsMissing})`);
describe.skipIf(natsMissing)('a long message between machines', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function serverWith(maxPayload: number): Promise<NatsServer> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-nats-'));
    closing.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'nats.conf'), `max_payload: ${maxPayload}\n`);
    const server = await newNatsServer(['-c', join(folder, 'nats.conf')]);
    await server.start();
    closing.push(() => server.kill());
    return server;
  }

  async function gateway(url: string) {
    const log = newMemoryLog();
    const bus = createNatsBus({ url, log, random: Math.random });
    const peers = createPeers([createBusChannel<PeerNotice>(bus, 'svc.mcp')], key);
    let isConnected = false;
    bus.start(
      () => {},
      () => {
        isConnected = true;
      },
    );
    closing.push(() => bus.close());
    await until(() => isConnected, { what: 'the connection' });
    return { peers, log };
  }

  it.each([8 * 1024, 64 * 1024, 1024 * 1024])('arrives if max_payload is %i', async (maxPayload) => {
    const { url } = await serverWith(maxPayload);
    const [one, two] = [await gateway(url), await gateway(url)];
    two.peers.serve('sse-session', async ({ text }) => ({ text }));
    const text = `x${'\u{1f600}é'.repeat(500_000)}`;
    const reply = await one.peers.ask(two.peers.self, 'sse-session', { text }, { onEvent: () => {}, onCancel: () => {} });
    expect(reply.text === text).toBe(true);
    expect(JSON.stringify([one.log.lines, two.log.lines])).not.toContain('max_payload');
  });

  it('is announced as lost if max_payload is below 8 KiB', async () => {
    const { url } = await serverWith(4096);
    const { log } = await gateway(url);
    expect(JSON.stringify(log.lines)).toMatch(/max_payload of the NATS server is too small.*Raise it to 8 KiB/);
  });
});
