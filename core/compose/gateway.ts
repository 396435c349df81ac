import type { Settings } from '../../config/settings.ts';
import { createGatewayTasks } from '../../workers/gateway-tasks.ts';
import { createTokenCaches } from '../cloud-auth/token-cache.ts';
import { defaultMarkersOf } from '../contract/plugin/requests/shape-params.ts';
import type { GuardrailTest } from '../contract/protocol/control-plane-calls/guardrail-checks.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import { peerSubject } from '../contract/protocol/notices/notice-subjects.ts';
import { ownStoreOrigin } from '../contract/provider/own-store.ts';
import { BodyMemory } from '../contract/values/bodies/body-memory.ts';
import { deriveKey } from '../contract/values/credentials/secret.ts';
import { keepObjectsYoung } from '../contract/values/keep-objects-young.ts';
import { limitHeapGrowth } from '../contract/values/limit-heap-growth.ts';
import { realTimers } from '../contract/values/time/timers.ts';
import { createForward } from '../control-plane/forward-to-control-plane.ts';
import { matchEndpoint } from '../endpoints/match-endpoint.ts';
import type { UnreadyReason } from '../http/built-in-routes.ts';
import { emptyNameWarning } from '../http/empty-names.ts';
import { errorReply } from '../http/write-error.ts';
import type { ProcessLog } from '../log/log.ts';
import { createOwnStoreChoice, ownStoreTarget } from '../own-store/resolve-own-store.ts';
import { createRetryBudget } from '../pipeline/attempt/retry-budget.ts';
import { createTokenFetch } from '../pipeline/target/token-fetch.ts';
import type { ProviderEntry } from '../provider-host/load-providers.ts';
import { ownStore } from '../providers/svc/index.ts';
import { createClientSecrets } from '../realtime/client-secrets.ts';
import { createSecretManagers } from '../secret-managers/secret-managers.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createMetricsPeer } from '../telemetry/metrics-ipc.ts';
import { startMetricsExport } from '../telemetry/otlp/export-metrics.ts';
import { addGauges } from './add-gauges.ts';
import { bodyLimitsOf } from './body-limits.ts';
import { createCachedClock } from './cached-clock.ts';
import { chainParts } from './chain-parts.ts';
import { closeGateway } from './close-gateway.ts';
import { composeAgents } from './compose-agents.ts';
import { composeChain } from './compose-chain.ts';
import { composeMcp } from './compose-mcp.ts';
import { composePipeline } from './compose-pipeline.ts';
import { createEdge } from './create-edge.ts';
import { internalRoutes } from './internal-routes.ts';
import { testGuardrail } from './invoke-guardrails.ts';
import { loadExtensions } from './load-extensions.ts';
import { measuredJournal } from './measured-journal.ts';
import { openOutbound } from './open-outbound.ts';
import { guardrailOpener, headerOpener, modelHeaderOpener, referenceOpener, secretOpener } from './open-sealed.ts';
import { openSessions } from './open-sessions.ts';
import { otlpPoster } from './post-otlp.ts';
import { createRequestLog } from './request-log.ts';
import { startReports } from './start-reports.ts';
import { startState } from './start-state.ts';
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

/** Time limit of one exchange with a secret manager. Requests wait for the first value. */
const secretTimeoutMs = 5000;

/** The composition root of the data plane. Creates every part once and passes it its dependencies. */
export async function startGateway(
  settings: Settings,
  slot: number,
  log: ProcessLog,
  addedProviders: readonly ProviderEntry[],
): Promise<Gateway> {
  const clock = createCachedClock();
  const prefixes = [settings.headerPrefix, ...settings.headerPrefixAliases];
  const outbound = openOutbound(settings, clock, log);
  const { transport, trusted, fetch, tokenFetch, ownStoreCalls, parsers } = outbound;
  const state = await startState({ settings, slot, log, clock, transport, trusted, fetch });
  const { circuits, leases, tokens, channelsOf } = state;
  const retryBudget = createRetryBudget({ clock, percent: settings.retryBudgetPercent, floor: settings.retryBudgetFloor });
  const metrics = createMetrics(slot);
  const peer = createMetricsPeer(process, metrics);
  const journal = measuredJournal(state.spool, metrics, createRequestLog({ log, level: settings.logLevel }));
  const workers = createGatewayTasks({
    threads: settings.workerThreads,
    queueMax: settings.workerQueueMax,
    taskMs: settings.workerTaskMs,
    memoryMegabytes: settings.workerMemoryMegabytes,
    log,
  });
  const memory = new BodyMemory(settings.bodyMemoryBytesMax);
  const extensions = await loadExtensions(settings, addedProviders);
  const parts = { settings, log, clock, state, outbound, journal, workers, extensions, prefixes };
  const composed = composeChain(chainParts(parts));
  const { services, plans } = composed;
  const loaded = extensions.tryOut(services, log);

  const { machineIdentity } = settings;
  const secretManagers = createSecretManagers({
    openAuth: referenceOpener(settings.clusterKey),
    sign: { ...createTokenFetch({ ...tokenFetch, machineIdentity, timeoutMs: secretTimeoutMs }), tokens: createTokenCaches() },
    trusted,
    clock,
    log,
    ttlMs: settings.secretReferenceTtlSeconds * 1000,
  });
  const bodies = bodyLimitsOf(settings);
  const ownStoreAdapter = { ...ownStore, inProcess: { origin: ownStoreOrigin, ...ownStoreCalls } };
  const sessions = openSessions(settings, clock);
  const mcp = composeMcp({
    ...{ settings, services, secretManagers, fetch, log },
    parseTokenUrl: parsers.parseTokenUrl,
    sender: transport,
    channels: channelsOf(peerSubject),
  });
  const agent = composeAgents(settings, parsers, services);
  const handle = composePipeline({
    chain: composed,
    transport,
    ownStore: ownStoreCalls,
    resolver: {
      openSecrets: secretOpener(settings.clusterKey),
      openHeaders: headerOpener(settings.clusterKey),
      secretManagers,
      openModelHeaders: modelHeaderOpener(settings.clusterKey),
      parseBaseUrl: parsers.parseBaseUrl,
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
      defaultMarkers: defaultMarkersOf(prefixes),
      timeouts: { requestMs: settings.requestTimeoutMs, connectMs: settings.connectTimeoutMs, idleMs: settings.idleTimeoutMs },
      streamedBodyBytesMax: settings.streamedBodyBytesMax,
      traceContext: settings.traceContextToProviders,
    },
    prefixes,
    memory,
    sessions,
    clientSecrets: createClientSecrets(deriveKey(settings.clusterKey, keyPurposes.clientSecret), clock),
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

  const checkConfig = (config: unknown) => plans.check(config);
  const openSecrets = guardrailOpener(settings.clusterKey);
  const invocation = { match: matchEndpoint, plans, services, prefixes, openSecrets };
  const guardrails = {
    services: { ...services, checkServiceUrl: parsers.checkServiceUrl },
    ...{ openSecrets, test: (test: GuardrailTest) => testGuardrail(invocation, test) },
  };
  const internal = internalRoutes({
    ...{ settings, log, transport, tokens, tokenFetch, clock, secretManagers },
    parseBaseUrl: parsers.parseBaseUrl,
    parseTokenUrl: parsers.parseTokenUrl,
    ...{ checkConfig, guardrails, loadedPlugins: loaded.plugins, loadedProviders: loaded.providers },
  });

  let stopping = false;
  const unready = () =>
    unreadyReasons({
      isStopping: stopping,
      keyIssue: state.keyCheck.issue(),
      hasDocuments: state.hasDocuments(),
      hasRoomForRecords: journal.healthy(),
    });
  const server = await createEdge({
    ...{ settings, log, clock, memory, plans, journal, mcp, peer, prefixes, internal, handle, unready },
    keyCheck: state.keyCheck,
  });
  addGauges(metrics, {
    server,
    memory,
    ...{ sessions, journal: state.spool, contents: state.contents, circuits, retryBudget, leases, mcp },
    ...{ documents: state.documents, hasNats: state.hasNats },
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
  keepObjectsYoung();
  limitHeapGrowth();
  const port = await server.listen(settings.host, settings.port);
  log.info({ port, binary: server.uwsName }, 'the gateway listens');
  const reports = startReports(settings, { slot, fetch, clock, log });
  const warning = server.acceptsEmptyNames ? emptyNameWarning(settings) : null;
  if (warning !== null) log.warn({ binary: server.uwsName, host: settings.host }, warning);

  return {
    port,
    unready,
    reloadTls: () => server.reloadTls(),
    close() {
      stopping = true;
      return closeGateway({
        ...{ settings, log, server, sessions, plans, reports, mcp, agent, state, peer, metricsExport, workers, transport },
      });
    },
  };
}
