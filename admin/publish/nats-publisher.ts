import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node';
import { type ChangeNotice, changesSubject } from '../../core/contract/protocol/documents.ts';
import type { Log } from '../../core/contract/values/log.ts';

/** The bus of many machines, sending side. */
export interface NatsPublisher {
  /** Never throws and never waits: with NATS away the notice is dropped, and gateways ask for what they missed. */
  publish(notice: ChangeNotice): void;
  close(): Promise<void>;
}

/**
 * Connects in the background and reconnects for ever (the client's own default gives up after ten tries). `url` as in
 * `NATS_URL`: one or several servers with commas between, user and password in the first.
 */
export function connectNats(url: string, log: Log): NatsPublisher {
  let connection: NatsConnection | null = null;
  let connected = false;
  let closed = false;

  async function run(): Promise<void> {
    // Services without NATS do not load the client.
    const { connect } = await import('@nats-io/transport-node');
    const opened = await connect(optionsOf(url));
    if (closed) return opened.close();
    connection = opened;
    connected = true;
    for await (const status of opened.status()) {
      if (status.type === 'disconnect') {
        connected = false;
        if (!closed) log.warn({}, 'NATS is away: gateways ask for changes instead');
      } else if (status.type === 'reconnect') {
        connected = true;
        log.info({}, 'NATS is back');
      }
    }
  }

  // `waitOnFirstConnect` makes this try for ever; only settings that can never work end it.
  run().catch((error) => log.error({ cause: error instanceof Error ? error.message : String(error) }, 'NATS cannot be used'));

  return {
    publish(notice) {
      if (!connected || !connection) return;
      try {
        connection.publish(changesSubject, JSON.stringify(notice));
      } catch (error) {
        log.warn({ cause: String(error) }, 'a change could not be published to NATS');
      }
    },
    async close() {
      closed = true;
      // Flushes what is on its way; a server that is away gets no second chance.
      if (connected) await connection?.drain().catch(() => {});
      else await connection?.close().catch(() => {});
    },
  };
}

function optionsOf(url: string): NodeConnectionOptions {
  const servers = url.split(',').map((one) => new URL(one.includes('://') ? one.trim() : `nats://${one.trim()}`));
  const [first] = servers;
  const user = decodeURIComponent(first?.username ?? '');
  const pass = decodeURIComponent(first?.password ?? '');
  return {
    // A user without a password is a token, as in the URLs of other NATS clients.
    ...(user && pass ? { user, pass } : user ? { token: user } : {}),
    ...(first?.protocol === 'tls:' ? { tls: {} } : {}),
    servers: servers.map((one) => `${one.hostname}:${one.port || '4222'}`),
    name: 'svc-control-plane',
    waitOnFirstConnect: true,
    ignoreAuthErrorAbort: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    reconnectJitterTLS: 250,
    pingInterval: 10_000,
    maxPingOut: 2,
  };
}
