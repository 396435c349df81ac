import type { NatsConnection } from '@nats-io/transport-node';
import { type ChangeNotice, changesSubject } from '../../core/contract/protocol/notices/change-notice.ts';
import { sealNotice } from '../../core/contract/protocol/notices/sealed-notice.ts';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import { createNatsConnectionLog } from '../../core/nats/connection-log.ts';
import { natsOptions, type ReadAgain } from '../../core/nats/options.ts';

const warnAfterMs = 5_000;

/** The sending side of the bus between machines. */
export interface NatsPublisher {
  /** Never throws and never waits. If NATS is not reachable the notice is dropped, and gateways poll for missed changes. */
  publish(notice: ChangeNotice): void;
  close(): Promise<void>;
}

/**
 * Connects in the background and reconnects without limit (the client's own default gives up after ten attempts). `url` as in
 * `NATS_URL`: one or several servers separated by commas, user and password in the first. `key`: see `sealNotice`. `readAgain`: see
 * `natsOptions`.
 */
export function connectNats(url: string, key: Uint8Array, log: Log, readAgain: ReadAgain | null = null): NatsPublisher {
  let connection: NatsConnection | null = null;
  let connected = false;
  let closed = false;
  const connectionLog = createNatsConnectionLog(log, 'gateways poll for changes');

  async function run(): Promise<void> {
    // Services without NATS do not load the client.
    const { connect } = await import('@nats-io/transport-node');
    // The client tries without limit and reports nothing until its first connection.
    const warning = setTimeout(() => {
      if (!closed)
        log.warn({}, 'no server of NATS_URL accepts a connection. Check its hosts, user and password. Gateways poll for changes');
    }, warnAfterMs).unref();
    const opened = await connect({ ...natsOptions(url, 'svc control plane', readAgain), waitOnFirstConnect: true });
    clearTimeout(warning);
    if (closed) return opened.close();
    connection = opened;
    connected = true;
    for await (const status of opened.status()) {
      if (status.type === 'disconnect') {
        connected = false;
        if (!closed) connectionLog.lost();
      } else if (status.type === 'reconnect') {
        connected = true;
        connectionLog.restored();
      } else if (status.type === 'error') {
        connectionLog.failed(status.error);
      }
    }
  }

  // `waitOnFirstConnect` retries without limit. Only settings that can never work reject.
  run().catch((error) => log.error({ reason: messageOf(error) }, 'NATS connection failed'));

  return {
    publish(notice) {
      if (!connected || !connection) return;
      try {
        connection.publish(changesSubject, JSON.stringify(sealNotice(key, notice)));
      } catch (error) {
        log.warn({ reason: messageOf(error) }, 'could not publish a change to NATS');
      }
    },
    async close() {
      closed = true;
      // Flushes pending messages. Does not wait for an unreachable server.
      if (connected) await connection?.drain().catch(() => {});
      else await connection?.close().catch(() => {});
    },
  };
}
