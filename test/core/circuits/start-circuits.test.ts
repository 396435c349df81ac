import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import { type RunningCircuits, startCircuits } from '../../../core/circuits/start-circuits.ts';
import { createBusChannel, createIpcChannel } from '../../../core/compose/notice-channels.ts';
import type { BreakerSettings, CircuitNotice } from '../../../core/contract/plugin/services/circuits.ts';
import type { NoticeChannel } from '../../../core/contract/protocol/notices/notice-channel.ts';
import { circuitSubject } from '../../../core/contract/protocol/notices/notice-subjects.ts';
import { type FakeTime, newFakeTime } from '../../support/fakes/fake-time.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

const settings: BreakerSettings = {
  failureThreshold: 1,
  failurePercent: null,
  requestsMin: 5,
  cooldownMs: 30_000,
  statusCodes: null,
};
const key = 'organisation:workspace:pc-main:version-1';
const path = 'config.targets[0]';

let time: FakeTime = newFakeTime();
beforeEach(() => {
  time = newFakeTime();
});

interface Gateway {
  readonly health: RunningCircuits;
  readonly sent: CircuitNotice[];
  hear(message: unknown): void;
}

function newGateway(peers: Gateway[] = []): Gateway {
  const sent: CircuitNotice[] = [];
  let onNotice: (message: unknown) => void = () => {};
  const channel: NoticeChannel<CircuitNotice> = {
    send: (notice) => {
      sent.push(notice);
      for (const peer of peers) if (peer !== gateway) peer.hear(JSON.parse(JSON.stringify(notice)));
    },
    listen: (listener) => {
      onNotice = listener;
    },
    close: () => {},
  };
  const health = startCircuits({ clock: time.clock, log: newMemoryLog(), processes: 1, channels: [channel] });
  const gateway: Gateway = { health, sent, hear: (message) => onNotice(message) };
  peers.push(gateway);
  return gateway;
}

const breakerOf = (gateway: Gateway, ofKey = key) => gateway.health.breaker(ofKey, path, settings);
function fail(gateway: Gateway): void {
  const breaker = breakerOf(gateway);
  breaker.end(breaker.begin(), true);
}
const open = (changes: object = {}) => ({ key, path, state: 'open', until: time.clock.now() + 20_000, ...changes });

describe('circuits of several gateways', () => {
  it('open, allow one trial and close together', () => {
    const peers: Gateway[] = [];
    const [one, two] = [newGateway(peers), newGateway(peers)];
    const breaker = breakerOf(two);
    fail(one);
    expect(breaker.isOpen()).toBe(true);
    expect([one, two].map((each) => each.health.openBreakers())).toEqual([1, 1]);
    expect([one, two].map((each) => each.health.counts.opened)).toEqual([1, 0]);
    time.advance(30_000);
    const trial = breaker.begin();
    expect(breakerOf(one).begin()).toBe(0);
    expect(breakerOf(one).isOpen()).toBe(true);
    breaker.end(trial, false);
    expect([breakerOf(one).isOpen(), breaker.isOpen()]).toEqual([false, false]);
  });

  it('apply to the first request of a gateway that loads the config later', () => {
    const gateway = newGateway();
    gateway.hear(open());
    expect(breakerOf(gateway).isOpen()).toBe(true);
    time.advance(20_000);
    expect(breakerOf(gateway).isOpen()).toBe(false);
  });

  it('are removed with the version of the config', () => {
    const gateway = newGateway();
    fail(gateway);
    expect(breakerOf(gateway).isOpen()).toBe(true);
    expect(breakerOf(gateway, key.replace('version-1', 'version-2')).isOpen()).toBe(false);
  });

  it('are the same object for every plan', () => {
    const gateway = newGateway();
    expect(breakerOf(gateway)).toBe(breakerOf(gateway));
  });
});

describe('an invalid circuit notice', () => {
  it.each([
    ['nothing', null],
    ['text', 'open'],
    ['a key that is missing', { path, state: 'open', until: 1 }],
    ['a path that is none', open({ path: 'config.targets[x]' })],
    ['a state there is not', open({ state: 'broken' })],
    ['a time that is none', open({ until: 'soon' })],
    ['a time without end', open({ until: 1e300 })],
    ['a key without end', open({ key: 'k'.repeat(601) })],
    ['bytes that are no JSON', Buffer.from('{')],
    ['too many bytes', Buffer.from(JSON.stringify(open()) + ' '.repeat(3000))],
  ])('%s is counted and ignored', (_name, message) => {
    const gateway = newGateway();
    const breaker = breakerOf(gateway);
    gateway.hear(message);
    expect(breaker.isOpen()).toBe(false);
    expect(gateway.health.counts.invalidNotices).toBe(1);
  });

  it('with unknown members is accepted', () => {
    const gateway = newGateway();
    const breaker = breakerOf(gateway);
    gateway.hear(open({ reason: 'of a newer version' }));
    expect([breaker.isOpen(), gateway.health.counts.invalidNotices]).toEqual([true, 0]);
  });

  it('cannot fill the memory: 10,000 notices of unused circuits are stored', () => {
    const gateway = newGateway();
    gateway.hear(open({ key: 'first' }));
    for (let i = 0; i < 10_000; i++) gateway.hear(open({ key: `key-${i}` }));
    expect(breakerOf(gateway, 'first').isOpen()).toBe(false);
    expect(breakerOf(gateway, 'key-9999').isOpen()).toBe(true);
  });

  it('is read from the bytes of a bus', () => {
    const gateway = newGateway();
    gateway.hear(Buffer.from(JSON.stringify(open())));
    expect(breakerOf(gateway).isOpen()).toBe(true);
  });
});

it('is neither sent nor received after close', () => {
  const gateway = newGateway();
  const breaker = breakerOf(gateway);
  gateway.health.close();
  gateway.hear(open());
  expect(breaker.isOpen()).toBe(false);
  fail(gateway);
  expect(breaker.isOpen()).toBe(true);
  expect(gateway.sent).toEqual([]);
});

describe('circuit notice channels', () => {
  it('IPC: wraps messages, accepts only its own, and survives a closed channel', () => {
    const source = Object.assign(new EventEmitter(), { send: (message: object) => void sent.push(message) });
    const sent: object[] = [];
    const heard: unknown[] = [];
    const channel = createIpcChannel(source, circuitSubject);
    channel.listen((message) => heard.push(message));
    channel.send({ key, path, state: 'closed', until: 0 });
    expect(sent).toEqual([{ type: 'svc.circuits', notice: { key, path, state: 'closed', until: 0 } }]);
    source.emit('message', { type: 'svc.changes', notice: 1 });
    source.emit('message', { type: 'svc.circuits', notice: 2 });
    source.emit('message', null);
    channel.close();
    source.emit('message', { type: 'svc.circuits', notice: 3 });
    expect(heard).toEqual([2]);
    source.send = () => {
      throw new Error('ERR_IPC_CHANNEL_CLOSED');
    };
    expect(() => channel.send({ key, path, state: 'closed', until: 0 })).not.toThrow();
  });

  it('bus: uses the subject svc.circuits in both directions', () => {
    const published: unknown[] = [];
    const listeners = new Map<string, (message: Uint8Array) => void>();
    const channel = createBusChannel(
      {
        publish: (subject, notice) => void published.push([subject, notice]),
        subscribe: (subject, listener) => void listeners.set(subject, listener),
        messageBytesMax: () => null,
      },
      circuitSubject,
    );
    const heard: unknown[] = [];
    channel.listen((message) => heard.push(message));
    channel.send({ key, path, state: 'closed', until: 0 });
    listeners.get('svc.circuits')?.(Buffer.from('a'));
    channel.close();
    listeners.get('svc.circuits')?.(Buffer.from('b'));
    expect(published).toEqual([['svc.circuits', { key, path, state: 'closed', until: 0 }]]);
    expect(heard.map(String)).toEqual(['a']);
  });
});
