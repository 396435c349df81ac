import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realTimers, type Timers } from '../../../core/contract/values/time/timers.ts';
import { createIpcBus } from '../../../core/documents/ipc-bus.ts';
import { createNatsBus, type NatsBus } from '../../../core/documents/nats-bus.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { type NatsServer, natsMissing, newNatsServer } from '../../support/processes/nats-server.ts';
import { until, within } from '../../support/until.ts';

describe('the bus on one machine', () => {
  it('forwards change messages of the primary and nothing else', async () => {
    const source = new EventEmitter();
    const bus = createIpcBus(source);
    const heard: unknown[] = [];
    bus.start(
      (message) => heard.push(message),
      () => {},
    );
    source.emit('message', { type: 'svc.changes', notice: 1 });
    source.emit('message', { type: 'svc.metrics-collect', id: 1 });
    source.emit('message', null);
    await bus.close();
    source.emit('message', { type: 'svc.changes', notice: 2 });
    expect(heard).toEqual([1]);
  });
});

/** Retries follow at once. */
const quickTimers: Timers = { after: (ms, callback) => realTimers.after(Math.min(ms, 100), callback) };

if (natsMissing) console.warn(`skipped: the bus of many machines (${natsMissing})`);
describe.skipIf(natsMissing)('the bus between machines', () => {
  let server: NatsServer;
  let bus: NatsBus;
  let heard: string[];
  let connections: number;
  let log: ReturnType<typeof newMemoryLog>;

  async function begin(
    arguments_: string[] = [],
    userInformation = '',
    readAgain: ((host: string) => string | null) | null = null,
  ): Promise<void> {
    server = await newNatsServer(arguments_);
    log = newMemoryLog();
    const { host } = new URL(server.url);
    bus = createNatsBus({
      url: `nats://${userInformation}${host}`,
      readAgain: readAgain && (() => readAgain(host)),
      ...{ log, random: () => 0.5, timers: quickTimers },
    });
    bus.start(
      (message) => heard.push(Buffer.from(message as Uint8Array).toString()),
      () => (connections += 1),
    );
  }
  async function publish(text: string, options: { user?: string; pass?: string } = {}): Promise<void> {
    const publisher = await connect({ servers: server.url, ...options });
    publisher.publish('svc.changes', text);
    await publisher.flush();
    await publisher.close();
  }

  beforeEach(() => {
    heard = [];
    connections = 0;
  });
  afterEach(async () => {
    await bus.close();
    await server.kill();
  });

  it('connects with the credentials that NATS_URL has then, and with those of the start while it cannot be read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-nats-'));
    const config = join(folder, 'nats.conf');
    const configure = (pass: string) => writeFile(config, `authorization { user: me, password: ${pass} }`);
    let pass: string | null = null;
    await configure('one');
    await begin(['-c', config], 'me:one@', (host) => (pass === null ? null : `nats://me:${pass}@${host}`));
    await server.start();
    await until(() => connections === 1);
    await server.kill();
    await configure('two');
    pass = 'two';
    await server.start();
    await until(() => connections === 2);
    await publish('hello', { user: 'me', pass: 'two' });
    await until(() => heard.length === 1);
    await rm(folder, { recursive: true });
  });

  it('delivers the bytes of every message', async () => {
    await begin();
    await server.start();
    await until(() => connections === 1);
    await publish('one');
    await publish('two');
    await until(() => heard.length === 2);
    expect(heard).toEqual(['one', 'two']);
  });

  it('delivers notices to other gateways, not to the sender, and drops them while the server is away', async () => {
    server = await newNatsServer();
    await server.start();
    const open = async () => {
      const made = createNatsBus({ url: server.url, log: newMemoryLog(), random: () => 0.5 });
      const notices: unknown[] = [];
      let connected = 0;
      made.subscribe('svc.circuits', (message) => notices.push(JSON.parse(Buffer.from(message).toString())));
      made.start(
        () => {},
        () => (connected += 1),
      );
      await until(() => connected === 1);
      return { made, notices, connected: () => connected };
    };
    const one = await open();
    const two = await open();
    bus = one.made;
    try {
      one.made.publish('svc.circuits', { n: 1 });
      await until(() => two.notices.length === 1);
      await server.kill();
      await until(() => !one.made.isConnected());
      one.made.publish('svc.circuits', { n: 2 });
      await server.start();
      await until(() => one.connected() === 2 && two.connected() === 2);
      one.made.publish('svc.circuits', { n: 3 });
      await until(() => two.notices.some((notice) => (notice as { n: number }).n === 3));
      expect(two.notices).toEqual([{ n: 1 }, { n: 3 }]);
      expect(one.notices).toEqual([]);
    } finally {
      await two.made.close();
    }
    one.made.publish('svc.circuits', { n: 4 });
  });

  it('waits for a server that is down at start', async () => {
    await begin();
    expect(connections).toBe(0);
    await server.start();
    await until(() => connections === 1);
    await publish('after all');
    await until(() => heard.length === 1);
  });

  it('reconnects after every kill of the server, and logs each time', async () => {
    await begin();
    for (let round = 1; round <= 3; round++) {
      await server.start();
      await until(() => connections === round);
      expect(bus.isConnected()).toBe(true);
      await publish(`round ${round}`);
      await until(() => heard.length === round);
      await server.kill();
      await until(() => !bus.isConnected());
    }
    expect(heard).toEqual(['round 1', 'round 2', 'round 3']);
  });

  it('signs in with the user and password of its URL', async () => {
    await begin(['--user', 'gateway', '--pass', 'p@ss'], 'gateway:p%40ss@');
    await server.start();
    await until(() => connections === 1);
    await publish('signed in', { user: 'gateway', pass: 'p@ss' });
    await until(() => heard.length === 1);
  });

  describe('with a user of a configuration file', () => {
    let file: string;
    const users = (password: string, permissions = '') =>
      writeFile(file, `authorization { users = [ { user: svc, password: ${password} ${permissions} } ] }`);
    const lines = () => log.lines.map(({ level, message }) => `${level} ${message}`);
    beforeEach(async () => {
      file = join(await mkdtemp(join(tmpdir(), 'nats-')), 'nats.conf');
      await users('right');
      await begin(['-c', file], 'svc:right@');
      await server.start();
      await until(() => connections === 1);
    });
    afterEach(() => rm(dirname(file), { recursive: true }));

    it('logs rejected credentials once, and that they are accepted again', async () => {
      const linesBefore = lines().length;
      await server.kill();
      await users('changed');
      await server.start();
      await until(() => lines().some((line) => line.includes('rejects')));
      await server.kill();
      await server.start();
      await server.kill();
      await users('right');
      await server.start();
      await until(() => connections > 1);
      expect(lines().slice(linesBefore)).toEqual([
        'warn NATS connection lost; polling for changes',
        'warn NATS rejects the user or password of NATS_URL; polling for changes',
        'info NATS connection restored',
      ]);
    });

    it('logs a denied subject, and subscribes again when it is permitted', async () => {
      await server.kill();
      await users('right', ', permissions: { subscribe: { deny: "svc.changes" } }');
      await server.start();
      await until(() => connections === 2);
      const denied = () => log.lines.filter(({ message }) => message.includes('denies'));
      await until(() => denied().length > 0);
      expect(denied()[0]).toMatchObject({
        message: expect.stringContaining('denies the user of NATS_URL a subject'),
        fields: { operation: 'subscription', subject: 'svc.changes' },
      });
      await server.kill();
      await users('right');
      await server.start();
      await until(() => connections === 3);
      await until(async () => {
        await publish('permitted', { user: 'svc', pass: 'right' });
        return heard.length > 0;
      });
    });
  });

  it('can be closed while the server is away', async () => {
    await begin();
    await within(bus.close(), 'the bus is closed');
    await server.start();
    await publish('too late');
    expect(connections).toBe(0);
    expect(heard).toEqual([]);
  });
});
