import type { NatsConnection } from '@nats-io/transport-node';
import { changesSubject } from '../contract/protocol/notices/change-notice.ts';
import { messageOf } from '../contract/values/errors/message-of.ts';
import type { Log } from '../contract/values/log/log.ts';
import { realTimers, type Timers } from '../contract/values/time/timers.ts';
import { createNatsConnectionLog } from '../nats/connection-log.ts';
import { natsOptions, type ReadAgain } from '../nats/options.ts';
import type { ChangeBus, NoticeBus } from './bus.ts';

export interface NatsBusOptions {
  /** `nats://user:password@host:4222` or `tls://host`. Several servers are separated by commas. */
  readonly url: string;
  /** Reads the URL for each connection; absent: its credentials do not change. */
  readonly readAgain?: ReadAgain | null;
  readonly log: Log;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  readonly timers?: Timers;
}

export interface NatsBus extends ChangeBus, NoticeBus {
  isConnected(): boolean;
}

const pauseMs = 250;
/** The server ends a subscription that it denies, also one that it permits later. */
const deniedRetryMs = 60_000;
/** Notices of changes, limits and circuits, and the parts of longer messages, are shorter than this. */
const natsPayloadMin = 8 * 1024;
const smallPayload =
  'max_payload of the NATS server is too small: some messages between gateways are lost. Raise it to 8 KiB or more';

/**
 * The bus between machines: core NATS, subject `svc.changes`. It reconnects without limit and waits for a server that is down at
 * start.
 */
export function createNatsBus(options: NatsBusOptions): NatsBus {
  const { log, random, timers = realTimers } = options;
  // Notices of this process need no echo.
  const connectOptions = { ...natsOptions(options.url, 'svc gateway', options.readAgain), noEcho: true };
  const listeners: { subject: string; listener: (message: Uint8Array) => void }[] = [];
  let connection: NatsConnection | null = null;
  let isConnected = false;
  let closed = false;
  const connectionLog = createNatsConnectionLog(log, 'polling for changes');
  let wake: () => void = () => {};

  return {
    start(onNotice, onConnected) {
      void follow(onNotice, onConnected);
    },
    subscribe: (subject, listener) => void listeners.push({ subject, listener }),
    publish(subject, notice) {
      // While the server is unreachable the client would queue messages and send them when they are outdated.
      if (!isConnected || closed) return;
      try {
        connection?.publish(subject, JSON.stringify(notice));
      } catch (error) {
        log.debug({ subject, reason: messageOf(error) }, 'could not send a notice to other gateways');
      }
    },
    isConnected: () => isConnected,
    messageBytesMax: () => connection?.info?.max_payload ?? null,
    async close() {
      closed = true;
      isConnected = false;
      wake();
      await connection?.close();
    },
  };

  async function follow(onNotice: (message: unknown) => void, onConnected: () => void): Promise<void> {
    while (!closed) {
      try {
        // Services without NATS do not load the client.
        const { connect } = await import('@nats-io/transport-node');
        connection = await connect(connectOptions);
        if (!closed) await listen(connection, onNotice, onConnected);
        await connection.close();
      } catch (error) {
        connectionLog.lost(error);
      }
      connection = null;
      isConnected = false;
      if (!closed) await pause(pauseMs * (0.5 + random()));
    }
  }

  /**
   * Resolves when the connection is closed permanently, by `close` or by an error of the client. Subscriptions must exist at the server before
   * missed changes are requested, or one could be lost in between: hence the flush after each connection.
   */
  async function listen(open: NatsConnection, onNotice: (message: unknown) => void, onConnected: () => void): Promise<void> {
    subscribe(open, changesSubject, onNotice);
    for (const { subject, listener } of listeners) subscribe(open, subject, listener);
    await open.flush();
    connected(onConnected);
    for await (const status of open.status()) {
      if (status.type === 'disconnect') isConnected = false;
      if (status.type === 'disconnect' && !closed) connectionLog.lost();
      if (status.type === 'error') connectionLog.failed(status.error);
      // If the connection breaks again before the flush ends, the next reconnect follows.
      if (status.type === 'reconnect')
        open.flush().then(
          () => connected(onConnected),
          () => {},
        );
    }
    await open.closed();
  }

  function subscribe(open: NatsConnection, subject: string, listener: (message: Uint8Array) => void): void {
    open.subscribe(subject, {
      callback(error, message) {
        if (closed) return;
        if (!error) return listener(message.data);
        timers.after(deniedRetryMs, () => {
          if (!closed && connection === open && !open.isClosed()) subscribe(open, subject, listener);
        });
      },
    });
  }

  function connected(onConnected: () => void): void {
    if (closed) return;
    connectionLog.restored();
    isConnected = true;
    const bytes = connection?.info?.max_payload ?? natsPayloadMin;
    if (bytes < natsPayloadMin) log.warn({ max_payload: bytes, needed: natsPayloadMin }, smallPayload);
    onConnected();
  }

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = timers.after(delayMs, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
