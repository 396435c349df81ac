import { randomUUID } from 'node:crypto';
import type { Settings } from '../../config/settings.ts';
import { replyToCardQuestion } from '../a2a/reply-to-card-question.ts';
import { readBatchUsage } from '../batches/read-batch-usage.ts';
import { agentCardPath, agentCardQuestion } from '../contract/protocol/agents/agent-cards.ts';
import { configCheck, configCheckPath } from '../contract/protocol/control-plane-calls/config-check.ts';
import { connectionTestPath } from '../contract/protocol/control-plane-calls/connection-test.ts';
import {
  type LoadedPlugin,
  type LoadedProvider,
  loadedPluginsPath,
  loadedPluginsQuestion,
} from '../contract/protocol/control-plane-calls/loaded-plugins.ts';
import { outboundCallPath, outboundHostMs } from '../contract/protocol/control-plane-calls/outbound-call.ts';
import { webhookDeliveryPath, webhookReceiverMs } from '../contract/protocol/control-plane-calls/webhook-delivery.ts';
import type { SecretManagers } from '../contract/protocol/credentials/secret-managers.ts';
import { tokenCheckPath } from '../contract/protocol/credentials/tokens.ts';
import { mcpInspection, mcpInspectionMs, mcpInspectionPath } from '../contract/protocol/mcp/mcp-sync.ts';
import { batchUsagePath, batchUsageQuestion } from '../contract/provider/batch-usage.ts';
import type { UpstreamTransport } from '../contract/provider/upstream.ts';
import type { Log } from '../contract/values/log/log.ts';
import type { Clock } from '../contract/values/time/clock.ts';
import { createWebhookDeliveries } from '../control-plane/deliver-webhooks.ts';
import { logFailedCalls } from '../control-plane/log-failed-calls.ts';
import { createOutboundCalls } from '../control-plane/make-outbound-calls.ts';
import { replyToControlPlane } from '../control-plane/serve-control-plane.ts';
import { createConnectionTests } from '../control-plane/test-connection.ts';
import { usageOfLine } from '../formats/stored/usage-of-line.ts';
import { createTokenChecks } from '../jwt/serve-token-checks.ts';
import type { startTokens } from '../jwt/start-tokens.ts';
import { createMappedHeaders } from '../mcp/headers/mapped-headers.ts';
import { inspectServer } from '../mcp/server/inspect-server.ts';
import { serverSettings } from '../mcp/server/server-settings.ts';
import type { Handle } from '../pipeline/run.ts';
import { createBuilder } from '../pipeline/target/build-target.ts';
import { createTokenFetch, type TokenFetchOptions } from '../pipeline/target/token-fetch.ts';
import { providers } from '../providers/index.ts';
import { type GuardrailReplies, guardrailRoutes } from './guardrail-routes.ts';
import { cardHeaderOpener, headerOpener, mcpHeaderOpener, secretOpener } from './open-sealed.ts';
import type { OutboundParsers } from './outbound-parsers.ts';
import { createSignServices } from './sign-services.ts';

/** Maximum number of batch outputs that are read at the same time, each line by line. */
const batchesReadMax = 4;
/** Maximum for one organisation, because its providers may respond slowly on purpose. */
const batchesReadOfOneMax = 2;

/** Maximum number of configs that are checked at the same time. */
const configChecksMax = 8;

/** Maximum number of MCP servers that are asked at the same time, and of A2A agents. */
const inspectionsMax = 8;

export interface InternalRoutesOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly transport: UpstreamTransport;
  readonly tokens: ReturnType<typeof startTokens>;
  readonly tokenFetch: TokenFetchOptions;
  readonly parseBaseUrl: OutboundParsers['parseBaseUrl'];
  readonly parseTokenUrl: OutboundParsers['parseTokenUrl'];
  readonly clock: Clock;
  readonly secretManagers: SecretManagers;
  /** Issues of a config, see `PlanStore.check`. */
  readonly checkConfig: (config: unknown) => string[];
  readonly guardrails: GuardrailReplies;
  readonly loadedPlugins: readonly LoadedPlugin[];
  readonly loadedProviders: readonly LoadedProvider[];
}

/** Returns the routes that the control plane calls, by path. Each requires the cluster key. */
export function internalRoutes(options: InternalRoutesOptions): ReadonlyMap<string, Handle> {
  const { settings, transport, tokens, tokenFetch, parseBaseUrl, clock, secretManagers } = options;
  const { clusterKey, clusterKeyText, machineIdentity } = settings;
  const providerAccess = {
    builder: createBuilder({ providers, parseBaseUrl }),
    transport,
    sign: createSignServices({ ...tokenFetch, machineIdentity }),
    openSecrets: secretOpener(clusterKey),
    openHeaders: headerOpener(clusterKey),
    secretManagers,
  };
  const reading = { ...providerAccess, usageOf: usageOfLine, now: clock.now, newId: () => randomUUID() };
  const batchUsage = replyToControlPlane({
    clusterKey: clusterKeyText,
    question: batchUsageQuestion,
    atOnceMax: batchesReadMax,
    owner: { of: ({ document }) => document.organisationId, max: batchesReadOfOneMax },
    reply: (question, signal) => readBatchUsage(question, { ...reading, signal }),
  });
  const configChecks = replyToControlPlane({
    clusterKey: clusterKeyText,
    question: configCheck,
    atOnceMax: configChecksMax,
    reply: async ({ config }) => ({ errors: options.checkConfig(config) }),
  });
  const plugins = replyToControlPlane({
    clusterKey: clusterKeyText,
    question: loadedPluginsQuestion,
    atOnceMax: configChecksMax,
    reply: async () => ({ plugins: options.loadedPlugins, providers: options.loadedProviders }),
  });
  const callsWithin = (timeoutMs: number) => logFailedCalls(createTokenFetch({ ...tokenFetch, timeoutMs }), options.log);
  return new Map([
    [connectionTestPath, createConnectionTests({ ...providerAccess, clusterKey: clusterKeyText })],
    [batchUsagePath, batchUsage],
    [webhookDeliveryPath, createWebhookDeliveries(callsWithin(webhookReceiverMs), clusterKeyText)],
    [outboundCallPath, createOutboundCalls({ clusterKey, clusterKeyText, calls: callsWithin(outboundHostMs) })],
    [configCheckPath, configChecks],
    ...guardrailRoutes(clusterKeyText, options.guardrails),
    [loadedPluginsPath, plugins],
    [mcpInspectionPath, mcpInspections(options)],
    [agentCardPath, agentCards(options)],
    [tokenCheckPath, createTokenChecks({ tokens, clusterKey, clusterKeyText })],
  ]);
}

/** Calls MCP servers that the control plane stores. */
function mcpInspections({ settings, transport, parseTokenUrl, clock, secretManagers }: InternalRoutesOptions): Handle {
  const headers = createMappedHeaders(secretManagers);
  const settingsOf = serverSettings({ openHeaders: mcpHeaderOpener(settings.clusterKey), parseUrl: parseTokenUrl });
  const ms = mcpInspectionMs;
  return replyToControlPlane({
    clusterKey: settings.clusterKeyText,
    question: mcpInspection,
    atOnceMax: inspectionsMax,
    reply: ({ document, lists }) =>
      inspectServer({ sender: transport, document, settingsOf, headers, totalMs: ms }, lists, clock),
  });
}

/** Fetches cards of A2A agents for the control plane. */
function agentCards({ settings, transport, parseTokenUrl, clock }: InternalRoutesOptions): Handle {
  const openHeaders = cardHeaderOpener(settings.clusterKey);
  return replyToControlPlane({
    clusterKey: settings.clusterKeyText,
    question: agentCardQuestion,
    atOnceMax: inspectionsMax,
    reply: (question) => replyToCardQuestion({ sender: transport, clock, parseUrl: parseTokenUrl, openHeaders }, question),
  });
}
