import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { natsUrlReader } from '../../config/secret-files.ts';
import type { Settings } from '../../config/settings.ts';
import { startCircuits } from '../circuits/start-circuits.ts';
import type { InternalFetch } from '../contract/protocol/internal-api.ts';
import type { NoticeChannel } from '../contract/protocol/notices/notice-channel.ts';
import { circuitSubject, dropSubject, recallSubject } from '../contract/protocol/notices/notice-subjects.ts';
import type { UpstreamTransport } from '../contract/provider/upstream.ts';
import type { TrustedHosts } from '../contract/values/addresses/trusted-hosts.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { realTimers } from '../contract/values/time/timers.ts';
import { createIpcBus } from '../documents/ipc-bus.ts';
import { startKeyCheck } from '../documents/key-check.ts';
import { createNatsBus } from '../documents/nats-bus.ts';
import { startDocuments } from '../documents/start-documents.ts';
import { startJournal } from '../journal/start-journal.ts';
import { keySetUrlParser, startTokens } from '../jwt/start-tokens.ts';
import { openHolders } from '../leases/holders.ts';
import { startLeases } from '../leases/start-leases.ts';
import type { ProcessLog } from '../log/log.ts';
import { createTokenFetch } from '../pipeline/target/token-fetch.ts';
import { createContentQueue } from './create-content-queue.ts';
import { createBusChannel, createIpcChannel } from './notice-channels.ts';
import { openReplyCache } from './open-reply-cache.ts';

/** Time for the last records to reach the control plane at shutdown. The next start ships the rest. */
const lastShipmentMs = 3000;

/** Time limit for reading a key set. The first requests wait for it. */
const keySetTimeoutMs = 5000;

interface Parts {
  readonly settings: Settings;
  readonly slot: number;
  readonly log: ProcessLog;
  readonly clock: Clock;
  readonly transport: UpstreamTransport;
  readonly trusted: TrustedHosts;
  readonly fetch: InternalFetch;
}

export type GatewayState = Awaited<ReturnType<typeof startState>>;

/** Starts the parts that hold state between requests and exchange it with the control plane and other gateways. */
export async function startState({ settings, slot, log, clock, transport, trusted, fetch }: Parts) {
  const natsBus =
    settings.natsUrl === null
      ? null
      : createNatsBus({ url: settings.natsUrl, readAgain: natsUrlReader(settings), log, random: Math.random });
  // Notices reach the processes of this machine at once, even if NATS is unavailable.
  const channelsOf = <Notice extends object>(subject: string): NoticeChannel<Notice>[] => [
    createIpcChannel(process, subject),
    ...(natsBus ? [createBusChannel<Notice>(natsBus, subject)] : []),
  ];
  const circuits = startCircuits({
    clock,
    log,
    processes: process.send ? settings.gatewayProcesses : 1,
    channels: channelsOf(circuitSubject),
  });
  const spool = startJournal({ settings, slot, fetch, clock, random: Math.random, log });
  const contents = createContentQueue({ settings, fetch, clock, log });
  const leases = startLeases({
    fetch,
    clock,
    log,
    newId: () => randomUUID(),
    holders: openHolders({
      directory: join(settings.dataDir, 'lease-holders'),
      slot,
      processes: settings.gatewayProcesses,
      newId: () => randomUUID(),
    }),
    earlierRecordsAreIn: () => spool.spool.inheritedIsShipped(),
    channels: channelsOf(recallSubject),
  });
  const bus = natsBus ?? createIpcBus(process);
  const loaded = await startDocuments({ settings, slot, fetch, bus, clock, random: Math.random, log });
  const replies = openReplyCache(settings, { fetch, clock, log, channels: channelsOf(dropSubject) });
  const keyCheck = await startKeyCheck({
    ...{ fetch, settings, timers: realTimers, log },
    keepApiKeyPepper: loaded.keepApiKeyPepper,
  });
  const keySets = createTokenFetch({
    transport,
    parseUrl: keySetUrlParser(trusted),
    now: clock.now,
    timeoutMs: keySetTimeoutMs,
  });
  const tokens = startTokens({ documents: loaded.documents, fetchKeySet: keySets.fetch, fetch, clock, log });
  return {
    channelsOf,
    ...{ circuits, spool, contents, leases, replies, keyCheck, tokens },
    documents: loaded.documents,
    apiKeyPepper: loaded.apiKeyPepper,
    /** True if NATS is connected or not used. */
    hasNats: () => natsBus?.isConnected() ?? true,
    /** True once documents can be read, from the control plane or the disk. */
    hasDocuments: () => loaded.ready(),
    /** Call it when no request is open. Ships the last records. */
    async close(): Promise<void> {
      await leases.close();
      await tokens.close();
      await spool.close(lastShipmentMs);
      await contents?.close(lastShipmentMs);
      keyCheck.stop();
      circuits.close();
      replies.close();
      await loaded.close();
    },
  };
}
