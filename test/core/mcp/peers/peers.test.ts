import { afterEach, describe, expect, it, vi } from 'vitest';
import type { NoticeChannel } from '../../../../core/contract/protocol/notices/notice-channel.ts';
import { GatewayError } from '../../../../core/contract/values/errors/errors.ts';
import { createPeers, type PeerNotice } from '../../../../core/mcp/peers/peers.ts';
import { peerChannels } from '../../../support/fakes/peer-channels.ts';

const key = new Uint8Array(32).fill(7);
const silent = { onEvent: () => {}, onCancel: () => {} };

afterEach(() => void vi.useRealTimers());

function three() {
  const channels = peerChannels();
  return [0, 1, 2].map(() => createPeers([channels.join()], key)) as [Peer, Peer, Peer];
}
type Peer = ReturnType<typeof createPeers>;

describe('a question to another process', () => {
  it('gets events and the reply of that process only', async () => {
    const [one, two, three_] = three();
    two.serve('sse-session', async (value, emit) => {
      emit({ step: 1 });
      return { of: 'two', ...value };
    });
    three_.serve('sse-session', async () => ({ of: 'three' }));
    const events: unknown[] = [];
    const reply = one.ask(two.self, 'sse-session', { asked: 'x' }, { ...silent, onEvent: (event) => void events.push(event) });
    expect([await reply, events]).toEqual([{ of: 'two', asked: 'x' }, [{ step: 1 }]]);
  });

  it('gets the error of that process', async () => {
    const [one, two] = three();
    two.serve('sse-session', async () => {
      throw new GatewayError('request_timeout', { message: 'too slow', detail: 'd' });
    });
    await expect(one.ask(two.self, 'sse-session', {}, silent)).rejects.toMatchObject({
      ...{ code: 'request_timeout', message: 'too slow', status: 408, detail: 'd' },
    });
  });

  it('is cancelled there', async () => {
    const [one, two] = three();
    const cancelled = new Promise<void>((resolve) => {
      two.serve('sse-session', async (_, __, signal) => {
        await new Promise((ended) => signal.addEventListener('abort', ended));
        resolve();
        return {};
      });
    });
    let cancel = () => {};
    const reply = one.ask(
      two.self,
      'sse-session',
      {},
      {
        ...silent,
        onCancel: (given) => {
          cancel = given;
        },
      },
    );
    cancel();
    await expect(reply).rejects.toMatchObject({ code: 'client_closed' });
    await cancelled;
  });

  it('fails if that process is gone, and waits as long as it reports that it is alive', async () => {
    vi.useFakeTimers();
    const [one, two] = three();
    const lost = expect(one.ask('another', 'sse-session', {}, silent)).rejects.toMatchObject({
      code: 'upstream_reset',
      detail: 'no session',
    });
    await vi.advanceTimersByTimeAsync(10_000);
    await lost;
    let finish = () => {};
    const done = new Promise<{ done: boolean }>((resolve) => {
      finish = () => resolve({ done: true });
    });
    two.serve('sse-session', () => done);
    const slow = one.ask(two.self, 'sse-session', {}, silent);
    await vi.advanceTimersByTimeAsync(60_000);
    finish();
    expect(await slow).toEqual({ done: true });
  });

  it('is served once, and its events arrive once, if a second channel delivers every message again', async () => {
    const [fast, slow] = [peerChannels(), peerChannels()];
    const late: (() => void)[] = [];
    const delayed = (channel: NoticeChannel<PeerNotice>): NoticeChannel<PeerNotice> => ({
      ...channel,
      send: (notice) => void late.push(() => channel.send(notice)),
    });
    const [one, two] = [0, 1].map(() => createPeers([fast.join(), delayed(slow.join())], key)) as [Peer, Peer];
    let served = 0;
    two.serve('sse-session', async (_, emit) => {
      served++;
      emit({ step: 1 });
      return {};
    });
    const events: unknown[] = [];
    const onEvent = (event: unknown) => void events.push(event);
    await one.ask(two.self, 'sse-session', {}, { ...silent, onEvent });
    for (const deliver of late.splice(0)) deliver();
    await one.ask(two.self, 'sse-session', {}, { ...silent, onEvent });
    expect([served, events]).toEqual([2, [{ step: 1 }, { step: 1 }]]);
  });

  it('passes long messages in parts that NATS accepts, in both directions', async () => {
    const sizes: number[] = [];
    const channels = peerChannels();
    const join = (): NoticeChannel<PeerNotice> => {
      const channel = channels.join();
      const send = (notice: PeerNotice) => {
        sizes.push(JSON.stringify(notice).length);
        channel.send(notice);
      };
      return { ...channel, send };
    };
    const [one, two] = [createPeers([join()], key), createPeers([join()], key)] as const;
    two.serve('sse-session', async ({ text }, emit) => {
      emit({ text });
      return { text };
    });
    // A part could end in the middle of these characters.
    const text = `x${'\u{1f600}'.repeat(400_000)}`;
    const events: unknown[] = [];
    const reply = await one.ask(two.self, 'sse-session', { text }, { ...silent, onEvent: (event) => void events.push(event) });
    expect(reply.text === text && (events as { text: string }[])[0]?.text === text).toBe(true);
    expect(sizes.length).toBeGreaterThan(9);
    expect(Math.max(...sizes)).toBeLessThan(1_048_576);
  });

  it('fails with a clear error if its reply is too long, and counts events that are', async () => {
    const [one, two] = three();
    two.serve('sse-session', async (_, emit) => {
      emit({ text: 'y'.repeat(9 * 1024 * 1024) });
      return { text: 'y'.repeat(9 * 1024 * 1024) };
    });
    await expect(one.ask(two.self, 'sse-session', {}, silent)).rejects.toMatchObject({
      ...{
        code: 'upstream_invalid',
        message: 'A message of a session at another gateway process may have at most 8388608 characters',
      },
    });
    expect(two.counts.dropped).toBe(1);
  });

  it('is refused if it is too long, and sealed on its way', async () => {
    const sent: PeerNotice[] = [];
    const tap: NoticeChannel<PeerNotice> = { send: (notice) => void sent.push(notice), listen: () => {}, close: () => {} };
    const one = createPeers([tap], key);
    await expect(one.ask('x', 'sse-session', { text: 'y'.repeat(9 * 1024 * 1024) }, silent)).rejects.toMatchObject({
      code: 'upstream_invalid',
    });
    void one.ask('x', 'sse-session', { secret: 'password' }, silent).catch(() => undefined);
    one.close();
    expect(sent).toHaveLength(1);
    expect(JSON.stringify(sent)).not.toContain('password');
  });
});
