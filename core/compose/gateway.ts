import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { didYouMean } from '../../config/did-you-mean.ts';
import type { Settings } from '../../config/settings.ts';
import { version } from '../../config/version.ts';
import { createGatewayTasks, cutForCount } from '../../workers/gateway-tasks.ts';
import { startCircuits } from '../circuits/start-circuits.ts';
import type { GuardrailTest } from '../contract/protocol/guardrail-checks.ts';
import { keyPurposes } from '../contract/protocol/key-purposes.ts';
import type { NoticeChannel } from '../contract/protocol/notice-channel.ts';
import { circuitSubject, dropSubject, peerSubject, recallSubject } from '../contract/protocol/notice-subjects.ts';
import { ownStoreOrigin, ownStoreProvider } from '../contract/provider/own-store.ts';
import { BodyMemory } from '../contract/values/body-memory.ts';
import { GatewayError } from '../contract/values/errors.ts';
import { parseTrustedHosts } from '../contract/values/outbound-url.ts';
import { deriveKey } from '../contract/values/secret.ts';
import { realTimers } from '../contract/values/timers.ts';
import { isTrustedOrigin } from '../contract/values/trusted-hosts.ts';
import { createForward } from '../control-plane/forward-to-control-plane.ts';
import { createInternalFetch } from '../control-plane/internal-fetch.ts';
import { createIpcBus } from '../documents/ipc-bus.ts';
import { startKeyCheck } from '../documents/key-check.ts';
import { createNatsBus } from '../documents/nats-bus.ts';
import { startDocuments } from '../documents/start-documents.ts';
import { errorFormatOf, matchEndpoint } from '../endpoints/match-endpoint.ts';
import type { UnreadyReason } from '../http/built-in-routes.ts';
import { emptyNameWarning } from '../http/empty-names.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { errorReply } from '../http/write-error.ts';
import { startJournal } from '../journal/start-journal.ts';
import { keySetUrlParser, startTokens } from '../jwt/start-tokens.ts';
import { openHolders } from '../leases/holders.ts';
import { startLeases } from '../leases/start-leases.ts';
import type { ProcessLog } from '../log/log.ts';
import { ownStoreSender } from '../own-store/own-store-calls.ts';
import { createOwnStoreChoice, ownStoreTarget } from '../own-store/resolve-own-store.ts';
import { createRetryBudget } from '../pipeline/attempt/retry-budget.ts';
import { defaultWordsOf } from '../pipeline/attempt/shape-params.ts';
import { createTokenFetch } from '../pipeline/target/token-fetch.ts';
import { hasHooks } from '../plugin-host/check-plugin.ts';
import { describePlugin, loadedLine } from '../plugin-host/describe-plugin.ts';
import { guardChecks } from '../plugin-host/guard-checks.ts';
import { guardPlugin } from '../plugin-host/guard-plugin.ts';
import { loadPlugins, tryExamples } from '../plugin-host/load-plugins.ts';
import { describeProvider } from '../provider-host/describe-provider.ts';
import type { ProviderEntry } from '../provider-host/load-providers.ts';
import { settingNames } from '../providers/declarations.ts';
import { forwardedHeaders, providers } from '../providers/index.ts';
import { ownStore } from '../providers/svc/index.ts';
import { createSecretManagers } from '../secret-managers/secret-managers.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createMetricsPeer } from '../telemetry/metrics-ipc.ts';
import { startMetricsExport } from '../telemetry/otlp/export-metrics.ts';
import { otlpUrl } from '../telemetry/otlp/options.ts';
import { createTransport } from '../upstream/transport.ts';
import { addGauges } from './add-gauges.ts';
import { bodyLimitsOf } from './body-limits.ts';
import { createTurnClock } from './cached-clock.ts';
import { composeAgents } from './compose-agents.ts';
import { composeChain } from './compose-chain.ts';
import { composeMcp } from './compose-mcp.ts';
import { composePipeline } from './compose-pipeline.ts';
import { createContentQueue } from './create-content-queue.ts';
import { refusedRecord } from './edge-refusal-record.ts';
import { internalRoutes } from './internal-routes.ts';
import { testGuardrail } from './invoke-guardrails.ts';
import { measuredJournal } from './measured-journal.ts';
import { createBusChannel, createIpcChannel } from './notice-channels.ts';
import { openReplyCache, semanticCacheOf } from './open-reply-cache.ts';
import { guardrailOpener, headerOpener, modelHeaderOpener, referenceOpener, secretOpener } from './open-sealed.ts';
import { openSessions } from './open-sessions.ts';
import { outboundParsers } from './outbound-parsers.ts';
import { createPluginFetch } from './plugin-fetch.ts';
import { otlpPoster } from './post-otlp.ts';
import { createRequestLog } from './request-log.ts';
import { createSignAws } from './sign-aws.ts';
import { createSignServices } from './sign-services.ts';
import { startReports } from './start-reports.ts';
import { unreadyReasons } from './unready-reasons.ts';

export interface Gateway {
  readonly port: number;
  /** Reasons why the process cannot serve now. Empty when it is ready. */
  unready(): readonly UnreadyReason[];
  /** Reads the certificate files again for new connections. Resolves false without TLS; rejects when they cannot be used. */
  reloadTls(): Promise<boolean>;
  /** Lets running requests end, ships their records, closes everything. Resolves when nothing is left open. */
  close(): Promise<void>;
}

/** States nothing about the caller's key. With a different ENCRYPTION_KEY no key can be verified. */
const wrongKey = new GatewayError('unavailable', {
  detail: 'ENCRYPTION_KEY does not match the control plane',
  retryAfterMs: 1000,
});

/** Time for the last records to reach the control plane at shutdown. The next start ships the rest. */
const lastShipmentMs = 3000;

/** Time for the last metrics at shutdown. */
const lastExportMs = 1000;

/** Time to report at shutdown that this process stops. */
const lastReportMs = 1000;

/** Time limit for reading a key set. The first requests wait for it. */
const keySetTimeoutMs = 5000;

/** Time limit of one exchange with a secret manager. Requests wait for the first value. */
const secretTimeoutMs = 5000;

/** Maximum time to close the sessions after their grace period. */
const sessionClosingMs = 2000;

/** The composition root of the data plane. Creates every part once and passes it its dependencies. */
export async function startGateway(
  settings: Settings,
  slot: number,
  log: ProcessLog,
  addedProviders: readonly ProviderEntry[] = [],
): Promise<Gateway> {
  const clock = createTurnClock();
  const metricsUrl = otlpUrl(settings, 'metrics');
  const prefixes = [settings.headerPrefix, ...settings.headerPrefixAliases];
  const trusted = parseTrustedHosts(settings.trustedCustomHosts);
  const outbound = outboundParsers(trusted);
  const transport = createTransport({
    now: clock.elapsed,
    trusted,
    internalOrigins: [settings.controlPlaneUrl, ...(metricsUrl === null ? [] : [metricsUrl])],
    machineIdentity: settings.machineIdentity,
    messageBytesMax: settings.realtimeMessageBytesMax,
    onHandlerError: (error) => log.error({ reason: String(error) }, 'a reply handler failed'),
  });
  const ownStoreCalls = ownStoreSender(transport, settings.controlPlaneUrl, settings.clusterKeyText);
  const fetch = createInternalFetch(transport, settings.controlPlaneUrl, settings.clusterKeyText);
  const natsBus = settings.natsUrl === null ? null : createNatsBus({ url: settings.natsUrl, log, random: Math.random });
  const bus = natsBus ?? createIpcBus(process);
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
  const retryBudget = createRetryBudget({ clock, percent: settings.retryBudgetPercent, floor: settings.retryBudgetFloor });
  const metrics = createMetrics(slot);
  const peer = createMetricsPeer(process, metrics);
  const spool = startJournal({ settings, slot, fetch, clock, random: Math.random, log });
  const contents = createContentQueue({ settings, fetch, clock, log });
  const journal = measuredJournal(spool, metrics, createRequestLog({ log, level: settings.logLevel }));
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
  const loaded = await startDocuments({ settings, slot, fetch, bus, clock, random: Math.random, log });
  const replies = openReplyCache(settings, { fetch, clock, log, channels: channelsOf(dropSubject) });
  const keyCheck = await startKeyCheck({ fetch, encryptionKey: settings.encryptionKey, timers: realTimers, log });
  const workers = createGatewayTasks({
    threads: settings.workerThreads,
    queueMax: settings.workerQueueMax,
    taskMs: settings.workerTaskMs,
    memoryMegabytes: settings.workerMemoryMegabytes,
    log,
  });
  const tokens = startTokens({
    documents: loaded.documents,
    fetchKeySet: createTokenFetch({ transport, parseUrl: keySetUrlParser(trusted), now: clock.now, timeoutMs: keySetTimeoutMs })
      .fetch,
    fetch,
    clock,
    log,
  });
  const memory = new BodyMemory(settings.bodyMemoryBytesMax);
  const trusts = (origin: string) => isTrustedOrigin(trusted, origin);
  const tokenFetch = { transport, parseUrl: outbound.parseTokenUrl, trusts, now: clock.now };
  const entries = await loadPlugins(settings.plugins);
  const extensions = entries.map(({ plugin }) => plugin);
  const added = extensions.filter(hasHooks).map((plugin) => guardPlugin(plugin, settings));
  const composed = composeChain({
    added,
    checks: (own) => guardChecks(extensions, settings, own),
    openGuardrail: guardrailOpener(settings.clusterKey),
    planEntriesMax: settings.documentCacheEntries,
    limits: settings,
    keys: {
      apiKeyPepper: deriveKey(settings.encryptionKey, keyPurposes.apiKeyPepper),
      jobCredentialKey: deriveKey(settings.clusterKey, keyPurposes.jobCredential),
      oauthTokenKey: deriveKey(settings.clusterKey, keyPurposes.oauthToken),
    },
    services: {
      documents: loaded.documents,
      journal,
      ...(contents ? { contents } : {}),
      replies,
      semanticCache: semanticCacheOf(settings),
      circuits,
      leases,
      log,
      clock,
      newId: () => randomUUID(),
      random: Math.random,
      blockInlineConfig: settings.blockInlineConfig,
      headerPrefixes: prefixes,
      headersToMetadata: { names: settings.headersToMetadata, keyPrefix: settings.metadataKeyPrefix },
      countTokens: async (texts, timeoutMs) => workers.run('count-tokens', { texts: cutForCount(texts) }, timeoutMs),
      tasks: workers,
      tokens,
      ...{ settingNames, forwardedHeaders },
      isProvider: (id) => providers.has(id) || id === ownStoreProvider,
      providerHint: (id) => didYouMean(id, [...providers.keys()]),
      checkCustomHost: outbound.checkCustomHost,
      fetch: createPluginFetch(createTokenFetch(tokenFetch)),
      signAws: createSignAws(clock),
    },
  });
  const { services, plans } = composed;
  const hooksOf = tryExamples(added, services);
  const loadedPlugins = entries.map((entry) => describePlugin(entry, hooksOf.get(entry.plugin.name) ?? new Set()));
  const loadedProviders = addedProviders.map(describeProvider);
  if (loadedPlugins.length + loadedProviders.length > 0) log.info(loadedLine(loadedPlugins, loadedProviders), 'plugins loaded');

  const { machineIdentity } = settings;
  const secretManagers = createSecretManagers({
    openAuth: referenceOpener(settings.clusterKey),
    sign: createSignServices({ ...tokenFetch, machineIdentity, timeoutMs: secretTimeoutMs }),
    trusted,
    clock,
    log,
    ttlMs: settings.secretReferenceTtlSeconds * 1000,
  });
  const bodies = bodyLimitsOf(settings);
  const ownStoreAdapter = { ...ownStore, inProcess: { origin: ownStoreOrigin, ...ownStoreCalls } };
  const sessions = openSessions(settings, clock);
  const mcp = composeMcp(settings, outbound, transport, services, secretManagers, { fetch, log }, channelsOf(peerSubject));
  const agent = composeAgents(settings, outbound, services);
  const handle = composePipeline({
    chain: composed,
    transport,
    ownStore: ownStoreCalls,
    resolver: {
      openSecrets: secretOpener(settings.clusterKey),
      openHeaders: headerOpener(settings.clusterKey),
      secretManagers,
      openModelHeaders: modelHeaderOpener(settings.clusterKey),
      parseBaseUrl: outbound.parseBaseUrl,
      ownStore: createOwnStoreChoice(ownStoreTarget(ownStoreAdapter)),
    },
    tokenFetch,
    machineIdentity,
    retryBudget,
    timers: realTimers,
    bodies,
    modelTools: {
      roundsMax: settings.modelToolsRoundsMax,
      tokensMax: settings.modelToolsTokensMax,
      timeoutMs: settings.modelToolsTimeoutMs,
    },
    outgoing: {
      defaultWords: defaultWordsOf(prefixes),
      timeouts: { requestMs: settings.requestTimeoutMs, connectMs: settings.connectTimeoutMs, idleMs: settings.idleTimeoutMs },
      streamedBodyBytesMax: settings.streamedBodyBytesMax,
      traceContext: settings.traceContextToProviders,
    },
    prefixes,
    memory,
    sessions,
    protocols: { mcp, agent },
    storedOnManyTargets: settings.storedOnManyTargets,
    errorReply,
    forwardToControlPlane: createForward({
      transport,
      controlPlaneUrl: settings.controlPlaneUrl,
      clusterKey: settings.clusterKeyText,
      errorReply,
    }),
  });

  const { parseBaseUrl } = outbound;
  const checkConfig = (config: unknown) => plans.check(config);
  const openSecrets = guardrailOpener(settings.clusterKey);
  const invocation = { match: matchEndpoint, plans, services, prefixes, openSecrets };
  const guardrails = {
    services: { ...services, checkServiceUrl: outbound.checkServiceUrl },
    ...{ openSecrets, test: (test: GuardrailTest) => testGuardrail(invocation, test) },
  };
  const internal = internalRoutes({
    ...{ settings, log, transport, tokens, tokenFetch, parseBaseUrl, clock, secretManagers },
    parseTokenUrl: outbound.parseTokenUrl,
    ...{ checkConfig, guardrails, loadedPlugins, loadedProviders },
  });

  let stopping = false;
  const unready = () =>
    unreadyReasons({
      isStopping: stopping,
      keyIssue: keyCheck.issue(),
      hasDocuments: loaded.ready(),
      hasRoomForRecords: journal.healthy(),
    });
  const server: HttpServer = await createHttpServer({
    settings,
    handle: (request, sink) => {
      const own = request.path.startsWith('/internal/') ? internal.get(request.path) : undefined;
      if (own) return own(request, sink);
      if (request.path.startsWith('/.well-known/') && mcp.replyMetadata(request, sink)) return;
      if (!keyCheck.blocks()) return handle(request, sink);
      const { status, headers, body } = errorReply(wrongKey, 'chat');
      sink.send(status, headers, body);
    },
    messageBytesMax: settings.realtimeMessageBytesMax,
    intake: memory.intake,
    refused: (error, request) => {
      const record = refusedRecord(error, request, { prefixes, clock, plans });
      journal.append(record);
      return record.traceId;
    },
    formatOf: errorFormatOf,
    builtIns: {
      version,
      unready,
      metrics: settings.metrics ? () => peer.gather() : null,
      metricsToken: settings.metricsToken,
    },
    failed: (where, error) =>
      log.error(
        { where, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) },
        'the HTTP edge failed',
      ),
  });
  addGauges(metrics, {
    server,
    memory,
    ...{ sessions, journal: spool, contents, circuits, retryBudget, leases, mcp },
    documents: loaded.documents,
    secretManagers,
    workers,
  });
  const metricsExport = startMetricsExport({
    settings,
    instance: `gateway-${slot}`,
    collect: metrics.collect,
    post: otlpPoster(transport),
    now: clock.now,
    timers: realTimers,
    random: Math.random,
    log,
  });
  const port = await server.listen(settings.host, settings.port);
  log.info({ port, binary: server.uwsName }, 'the gateway listens');
  const reports = startReports(settings, { slot, fetch, clock, log });
  const warning = server.acceptsEmptyNames ? emptyNameWarning(settings) : null;
  if (warning !== null) log.warn({ binary: server.uwsName, host: settings.host }, warning);

  return {
    port,
    unready,
    reloadTls: () => server.reloadTls(),
    async close() {
      stopping = true;
      if (settings.drainDelayMs > 0) await new Promise((resolve) => setTimeout(resolve, settings.drainDelayMs));
      mcp.endStreams();
      agent.endStreams();
      // Sessions must be closed before the drain time of requests ends.
      const graceMs = Math.max(0, Math.min(settings.realtimeDrainMs, settings.drainTimeoutMs - sessionClosingMs));
      const [late] = await Promise.all([server.drain(settings.drainTimeoutMs), sessions.drain(graceMs)]);
      if (late > 0) log.warn({ requests: late }, 'DRAIN_TIMEOUT is over; the remaining requests were ended with an error');
      server.close();
      plans.close();
      await reports.close(lastReportMs);
      await leases.close();
      await tokens.close();
      await spool.close(lastShipmentMs);
      await contents?.close(lastShipmentMs);
      keyCheck.stop();
      circuits.close();
      mcp.close();
      replies.close();
      await loaded.close();
      peer.close();
      await metricsExport?.close(lastExportMs);
      await workers.close();
      await transport.close();
    },
  };
}
