import { setTimeout as sleep } from 'node:timers/promises';
import { natsUrlReader } from '../config/secret-files.ts';
import type { Settings } from '../config/settings.ts';
import type { Clock, Log } from '../core/contract/plugin/plugin.ts';
import { keyPurposes } from '../core/contract/protocol/credentials/key-purposes.ts';
import type { ChangeNotice } from '../core/contract/protocol/notices/change-notice.ts';
import { compileProxyRules } from '../core/contract/values/addresses/client-origin.ts';
import { deriveKey } from '../core/contract/values/credentials/secret.ts';
import { realClock } from '../core/contract/values/time/clock.ts';
import { realTimers } from '../core/contract/values/time/timers.ts';
import { startMetricsExport } from '../core/telemetry/otlp/export-metrics.ts';
import { holdWorkspace } from './access/hold-workspace.ts';
import { resolveWorkspace } from './access/resolve-workspace.ts';
import { scopesByType } from './access/scopes.ts';
import { inWorkspace } from './access/session-actor.ts';
import { queueCopies } from './analytics/clickhouse/queue-copies.ts';
import { startShipper } from './analytics/clickhouse/ship-copies.ts';
import { createBackgroundWork } from './background-work.ts';
import { type FirstKeys, firstStart, givenKeys } from './bootstrap/first-start.ts';
import { createClickHouse } from './clickhouse/clickhouse.ts';
import { closeServer } from './close-server.ts';
import { createControlPlaneServer, listen } from './control-plane-server.ts';
import { type Database, openDatabase } from './db/open-database.ts';
import type { NewRecord } from './define-resource.ts';
import { createReadDocument } from './gateway-api/read-document.ts';
import { createRecordStore } from './gateway-api/store-records.ts';
import type { AdminServices } from './http/admin-services.ts';
import { createAnonymousEntries } from './http/anonymous-entries.ts';
import { AttemptLimit } from './http/caller/attempt-limit.ts';
import { createRateLimit } from './http/caller/rate-limit.ts';
import { createRejectionLog } from './http/log-rejection.ts';
import { resolveTxt } from './http/resolve-txt.ts';
import { authenticate } from './identity/authenticate.ts';
import { startJobRunner } from './jobs/job-runner.ts';
import { createMailer } from './mail/mailer.ts';
import { createObjectStore, tryObjectStore } from './object-store/create-object-store.ts';
import { createOutageLog } from './outage-log.ts';
import { createOutboundFetch } from './outbound-fetch.ts';
import { connectNats } from './publish/nats-publisher.ts';
import { startRelay } from './publish/relay.ts';
import { createReadiness, problemOf } from './readiness.ts';
import { createCachedReplies } from './resources/cached-replies/serve-cached-replies.ts';
import { announceWrite } from './resources/webhooks/announce-write.ts';
import { readKeptKeys } from './secrets/kept-keys.ts';
import { checkKeys } from './secrets/key-checks.ts';
import { logReplacement } from './secrets/log-replacement.ts';
import { createVault } from './secrets/vault.ts';
import { startHousekeeping } from './start-housekeeping.ts';
import { dependents, documentReaders, entities, housekeepingTasks, jobKinds, migrations, recordWriters } from './tables.ts';
import { createControlPlaneMetrics } from './telemetry/control-plane-metrics.ts';
import { createRequestExport } from './telemetry/export-requests.ts';
import { postOtlpWith } from './telemetry/post-otlp.ts';

/** Time for the last metrics when the process stops. */
const lastExportMs = 1_000;
/** Time for background work after a failed start. The mailer and the job runner need at most a little more than 5 s. */
const failedCloseMs = 8_000;

export interface ControlPlaneDeps {
  readonly log: Log;
  /** Publishes a notice of a committed change. Must not throw. Losing a notice does no harm. */
  readonly publish?: (notice: ChangeNotice) => void;
  /** Called when everything else is ready. It may block the process, because no request waits yet. */
  readonly beforeListening?: () => void;
  /** For tests: replaces the system clock. */
  readonly clock?: Clock;
  /** For tests: a reply that differs from its route's schema is an error instead of being reduced to it. */
  readonly strictReplies?: boolean;
  /** For tests: time limit of admin requests in milliseconds. */
  readonly requestDeadlineMs?: number;
  /** For tests: replaces look-ups of TXT records in the DNS. */
  readonly resolveTxt?: AdminServices['resolveTxt'];
  /** For tests: an open database to use instead of the one that the settings name. The caller closes it. */
  readonly database?: Database;
}

export interface ControlPlane {
  readonly port: number;
  /** Keys created by a first start; null on every later one. */
  readonly firstKeys: FirstKeys | null;
  /** For programs that maintain the installation, and for tests. */
  readonly services: AdminServices;
  /** Stops accepting requests, lets running ones finish, publishes committed changes, closes the database. */
  close(): Promise<void>;
}

/**
 * Opens the database, fills it if it is empty, and listens. Rejects if the database or the port is not available; port 0 picks a
 * free one.
 */
export async function startControlPlane(settings: Settings, deps: ControlPlaneDeps): Promise<ControlPlane> {
  // Before the embedded database is created, which takes seconds.
  givenKeys(settings);
  const database = deps.database ?? (await openDatabase(settings, { entities, migrations }, deps.log));
  const log = createOutageLog(deps.log, () => problemOf(database));
  const closeDatabase = async () => {
    log.close();
    if (!deps.database) await database.close();
  };
  const vault = createVault(settings);
  const clock = deps.clock ?? realClock;
  const background = createBackgroundWork(log);
  const outboundFetch = createOutboundFetch(settings);
  const post = postOtlpWith(outboundFetch);
  const requestExport = createRequestExport(settings, post, log);
  const metrics = createControlPlaneMetrics({ settings, database, exporters: requestExport.exporters, now: clock.elapsed });
  const metricsExport = startMetricsExport({
    ...{ settings, instance: 'control-plane', collect: () => metrics.registry.getMetricsAsJSON() },
    post,
    more: requestExport.metrics,
    ...{ now: clock.now, timers: realTimers, random: Math.random, log },
  });
  const clickhouse = settings.analyticsUrl === null ? null : createClickHouse(settings.analyticsUrl);
  const shipper = clickhouse && startShipper(database, clickhouse, log);
  const closeClickHouse = async () => {
    await shipper?.close();
    await clickhouse?.close();
  };
  const onStored = (rows: readonly NewRecord[]) => {
    shipper?.wake();
    requestExport.stored(rows);
    void metrics.observe(rows);
  };
  const nats =
    settings.natsUrl === null
      ? null
      : connectNats(settings.natsUrl, deriveKey(settings.clusterKey, keyPurposes.changeNotice), log, natsUrlReader(settings));
  // Without a close, a mail or a webhook that is being sent when the start fails would be sent again by another process.
  const closes: (() => Promise<void>)[] = [];
  const withClose = <Part extends { close(): Promise<void> }>(part: Part): Part => {
    closes.push(() => part.close());
    return part;
  };
  try {
    const ofFirstStart = await readKeptKeys(database.em(), settings);
    const firstKeys = await firstStart(settings, { database, vault, ...ofFirstStart, log });
    // After the first start, which changes no existing data: a first start that fails stores no key.
    await checkKeys(database.em(), settings);
    // Another process with the two keys in the other order may have filled the database meanwhile.
    const { apiKeyPepper, auditKey } = await readKeptKeys(database.em(), settings);
    await logReplacement(database.em(), settings, log);
    const publish = (notice: ChangeNotice) => {
      deps.publish?.(notice);
      nats?.publish(notice);
    };
    const relay = withClose(startRelay(database, publish, log));
    const mailer = withClose(await createMailer(settings, { database, vault, auditKey, clock, registry: metrics.registry, log }));
    const housekeeping = withClose(startHousekeeping(housekeepingTasks, { settings, database, clickhouse, mailer, log, clock }));
    const objects = createObjectStore(settings, outboundFetch, clock, log);
    if (objects) void tryObjectStore(objects);
    let stopping = false;
    const services: AdminServices = {
      callers: { scopesByType, authenticate, resolveWorkspace, inWorkspace, holdWorkspace },
      storeRecords: createRecordStore(database, [...recordWriters, ...(clickhouse ? [queueCopies] : [])], clock, onStored),
      settings,
      log,
      logRejection: createRejectionLog(log, metrics.registry),
      readiness: createReadiness({
        database,
        isStopping: () => stopping,
        diskProblem: log.diskProblem,
        copiesWait: () => Boolean(shipper?.failure()),
      }),
      exportContents: requestExport.contents,
      instances: metrics.instances,
      database,
      vault,
      objects,
      clickhouse,
      readDocument: createReadDocument(documentReaders, { database, vault, clusterKey: settings.clusterKey }),
      dependents,
      apiKeyPepper,
      clock,
      mailer,
      background,
      resolveTxt: deps.resolveTxt ?? resolveTxt,
      attempts: new AttemptLimit(clock),
      auditKey,
      proxies: compileProxyRules(settings),
      limits: {
        perKey: createRateLimit(settings.adminRequestsPerKey),
        perAddress: createRateLimit(settings.adminRequestsPerAddress),
      },
      anonymousEntries: createAnonymousEntries(clock),
      strictReplies: deps.strictReplies ?? false,
      requestDeadlineMs: deps.requestDeadlineMs ?? null,
      announceWrite,
      wakeRelay: (notices) => relay.wake(notices),
      wakeJobs: () => runner.wake(),
    };
    const runner = withClose(
      startJobRunner({
        handlers: Object.fromEntries(jobKinds.map(({ kind, handler }) => [kind, handler(services)])),
        database,
        log,
        leaseMs: settings.jobLeaseMs,
      }),
    );
    const replies = createCachedReplies(services);
    const server = createControlPlaneServer({ services, replies, registry: metrics.registry, isStopping: () => stopping });
    deps.beforeListening?.();
    const port = await listen(server, settings);
    const close = async () => {
      stopping = true;
      // If gateways run in this process tree, they have already waited before the control plane stops.
      if (settings.role === 'control-plane') await sleep(settings.drainDelayMs);
      await closeServer(server);
      await runner.close();
      await background.settled();
      await Promise.all([requestExport.close(), metricsExport?.close(lastExportMs)]);
      await mailer.close();
      await relay.close();
      await housekeeping.close();
      await nats?.close();
      await closeClickHouse();
      await closeDatabase();
    };
    return { port, firstKeys, services, close };
  } catch (error) {
    // A task of the housekeeping may take long, and the reason is logged afterwards.
    await Promise.race([Promise.allSettled(closes.map((close) => close())), sleep(failedCloseMs, undefined, { ref: false })]);
    await Promise.all([requestExport.close(), metricsExport?.close(lastExportMs)]);
    await nats?.close();
    await closeClickHouse();
    await closeDatabase();
    throw error;
  }
}
