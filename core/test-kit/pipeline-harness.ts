import { randomUUID } from 'node:crypto';
import { createGatewayTasks } from '../../workers/gateway-tasks.ts';
import { startCircuits } from '../circuits/start-circuits.ts';
import { type ChainParts, composeChain } from '../compose/compose-chain.ts';
import { composePipeline, type PipelineParts } from '../compose/compose-pipeline.ts';
import { guardrailOpener } from '../compose/open-sealed.ts';
import { outboundParsers } from '../compose/outbound-parsers.ts';
import { createPluginFetch } from '../compose/plugin-fetch.ts';
import { createSignAws } from '../compose/sign-aws.ts';
import type { CorePlugin, CoreServices } from '../contract/plugin/core-plugin.ts';
import type { DocumentReader, Reply } from '../contract/plugin/plugin.ts';
import type { CallHold } from '../contract/plugin/record/call-hold.ts';
import type { RequestRecord } from '../contract/plugin/record/record.ts';
import type { ReplyCache } from '../contract/protocol/cached-replies.ts';
import type { TokenVerifier } from '../contract/protocol/credentials/tokens.ts';
import type { ApiKeyDocument, ConfigDocument } from '../contract/protocol/documents.ts';
import type { Leases } from '../contract/protocol/limits/leases.ts';
import type { Credentials } from '../contract/provider/provider.ts';
import type { UpstreamCall, UpstreamTransport } from '../contract/provider/upstream.ts';
import { BodyMemory } from '../contract/values/bodies/body-memory.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { realTimers, type Timers } from '../contract/values/time/timers.ts';
import { createRetryBudget } from '../pipeline/attempt/retry-budget.ts';
import type { Handle } from '../pipeline/run.ts';
import { createTokenFetch } from '../pipeline/target/token-fetch.ts';
import { settingNames } from '../providers/declarations.ts';
import { forwardedHeaders, modelHeaders, modelsInBody, modelsInPath, providers } from '../providers/index.ts';
import { createReplyCache } from '../reply-cache/reply-cache.ts';
import { type FakeRequest, FakeSink, fakeRequest } from './fake-exchange.ts';
import { newMemoryDocuments } from './memory-documents.ts';
import { newMemoryJournal } from './memory-journal.ts';
import type { Script } from './provider-scripts.ts';
import { newScriptedTransport, noServices } from './scripted-transport.ts';

export { type FakeRequest, FakeSink } from './fake-exchange.ts';
export { organisationId, providerDocument, workspaceId } from './memory-documents.ts';
export { chatReply, chatStream, failWith, replyWith, type Script } from './provider-scripts.ts';

export interface Harness {
  readonly handle: Handle;
  readonly records: RequestRecord[];
  /** Calls that were announced before they were sent. */
  readonly holds: CallHold[];
  readonly logs: { level: string; fields: JsonObject; message: string }[];
  readonly calls: UpstreamCall[];
  readonly aborted: UpstreamCall[];
  readonly key: string;
  readonly plans: ReturnType<typeof composeChain>['plans'];
  readonly services: CoreServices;
  readonly documents: Map<string, unknown>;
  /** Scripts are used up in order; the last one stays. */
  script(...scripts: Script[]): void;
  addConfig(slug: string, config: JsonObject): ConfigDocument;
  /** Sends one request and waits for the end of its reply. */
  send(request: Partial<FakeRequest>): Promise<FakeSink>;
  /** Closes the plans and the worker pool. */
  close(): Promise<void>;
}

export const clusterKey = new Uint8Array(32).fill(9);
const pepper = new Uint8Array(32).fill(7);
const workerOptions = { threads: 1, queueMax: 100, taskMs: 20_000, memoryMegabytes: 256, log: { warn: () => {} } };

interface HarnessOptions {
  plugins?: CorePlugin[];
  checks?: ChainParts['checks'];
  /** Stored providers by slug. Default: `one`, `two` and `claude`. */
  providers?: Readonly<Record<string, string>>;
  now?: () => number;
  random?: () => number;
  key?: Partial<ApiKeyDocument>;
  /** Keys that verify credentials of jobs and of OAuth clients. Absent: these credentials are not accepted. */
  keys?: Omit<ChainParts['keys'], 'apiKeyPeppers'>;
  machineIdentity?: boolean;
  /** Monotonic milliseconds. */
  elapsed?: () => number;
  timers?: Timers;
  fetch?: CoreServices['fetch'];
  /** Takes the calls of `services.fetch`, after their addresses were checked. Absent: no service can be reached. */
  services?: UpstreamTransport;
  /** Default: a short form of the production body. */
  errorReply?: PipelineParts['errorReply'];
  /** Takes headers and bodies for logs. Absent: none are stored. */
  contents?: CoreServices['contents'];
  /** Takes the place of a pool with one thread, which is not started while all inputs are small. */
  tasks?: CoreServices['tasks'];
  retryBudget?: { percent: number; floor: number };
  /** Gateway processes of the machine. Default 1. */
  processes?: number;
  formBytesMax?: number;
  memory?: BodyMemory;
  leases?: Leases;
  replies?: ReplyCache;
  /** Takes the place of a disk that is always written. */
  whenSafe?: (callback: () => void) => void;
  headersToMetadata?: NonNullable<CoreServices['headersToMetadata']>;
  /** Verifies JWTs with these documents. Absent: JWTs are not accepted. */
  tokens?: (documents: DocumentReader) => TokenVerifier;
}

/** The true pipeline and plugins over documents in memory and a scripted provider; no port, no process. */
export function createHarness(options: HarnessOptions = {}): Harness {
  const { documents, reader, key, addConfig } = newMemoryDocuments(
    pepper,
    options.providers ?? { one: 'openai', two: 'openai', claude: 'anthropic' },
    options.key,
  );
  const { journal, records, holds } = newMemoryJournal(options.whenSafe ?? ((callback) => callback()));
  const { transport, calls, aborted, script } = newScriptedTransport();
  const logs: Harness['logs'] = [];
  const memory = options.memory ?? new BodyMemory(64 * 1024 * 1024);
  const write = (level: string) => (fields: JsonObject, message: string) => void logs.push({ level, fields, message });
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const clock = { now: options.now ?? Date.now, elapsed: options.elapsed ?? (() => performance.now()) };
  const circuits = startCircuits({ clock, processes: options.processes ?? 1, channels: [], log });
  const workers = createGatewayTasks(workerOptions);
  const composed = composeChain({
    added: options.plugins ?? [],
    ...(options.checks ? { checks: options.checks } : {}),
    planEntriesMax: 100,
    keys: { ...options.keys, apiKeyPeppers: () => [pepper] },
    openGuardrail: guardrailOpener(clusterKey),
    services: servicesOf(options, { documents: reader, journal, circuits, log, clock, tasks: options.tasks ?? workers }),
  });

  const { services, plans } = composed;
  const handle = composePipeline({
    chain: composed,
    transport,
    ownStore: transport,
    resolver,
    tokenFetch: { transport, now: services.clock.now, parseUrl: addressIn },
    machineIdentity: options.machineIdentity ?? false,
    retryBudget: createRetryBudget({
      clock,
      percent: options.retryBudget?.percent ?? 20,
      floor: options.retryBudget?.floor ?? 30,
    }),
    timers: options.timers ?? realTimers,
    modelTools: { roundsMax: 10, tokensMax: 0, timeoutMs: 60_000 },
    bodies: {
      jsonBytesMax: 1024 * 1024,
      jsonValuesMax: 500_000,
      formBytesMax: options.formBytesMax ?? 1024 * 1024,
      streamedBytesMax: 8 * 1024 * 1024,
    },
    outgoing: {
      timeouts: { requestMs: 60_000, connectMs: 5000, idleMs: 60_000 },
      defaultMarkers: ['svc-default'],
      streamedBodyBytesMax: 1024 * 1024,
    },
    prefixes,
    memory,
    errorReply: options.errorReply ?? shortError,
    forwardToControlPlane: (_request, sink) => sink.send(299, [], 'control plane'),
  });

  return {
    handle,
    records,
    holds,
    logs,
    calls,
    aborted,
    key,
    plans,
    services,
    documents,
    script,
    addConfig,
    async send(request) {
      const sink = new FakeSink();
      request.prepare?.(sink);
      handle(fakeRequest(request, key), sink);
      await sink.done;
      return sink;
    },
    async close() {
      plans.close();
      circuits.close();
      await workers.close();
    },
  };
}

type ChainServices = Parameters<typeof composeChain>[0]['services'];

/** The services of plugins: those that the options replace, and those of a gateway process without a network. */
function servicesOf(
  options: HarnessOptions,
  own: Pick<ChainServices, 'documents' | 'journal' | 'circuits' | 'log' | 'clock' | 'tasks'>,
): ChainServices {
  const { documents, clock } = own;
  return {
    ...own,
    replies:
      options.replies ??
      createReplyCache({ remote: null, clock, timers: realTimers, memoryBytesMax: 64 * 1024 * 1024, channels: [] }),
    ...(options.leases ? { leases: options.leases } : {}),
    ...(options.headersToMetadata ? { headersToMetadata: options.headersToMetadata } : {}),
    ...(options.tokens ? { tokens: options.tokens(documents) } : {}),
    newId: randomUUID,
    random: options.random ?? (() => 0),
    headerPrefixes: prefixes,
    countTokens: async (texts) => texts.join(' ').split(/\s+/).filter(Boolean).length,
    settingNames,
    isProvider: (id) => providers.has(id),
    forwardedHeaders,
    modelHeaders,
    modelsInBody,
    modelsInPath,
    checkCustomHost: (url) => (url.startsWith('https://') ? null : 'must begin with https://'),
    signAws: createSignAws(clock),
    ...(options.contents ? { contents: options.contents } : {}),
    fetch: options.fetch ?? serviceFetch(options.services ?? noServices, clock.now),
  };
}

const prefixes = ['x-svc-', 'x-other-'];

/** Opens nothing: documents of tests hold secrets and headers as plain JSON. */
const resolver: Parameters<typeof composePipeline>[0]['resolver'] = {
  openSecrets: (document) => secretsOf(document.secrets ?? '{"api_key":"sk-stored"}'),
  openHeaders: ({ headers }) => JSON.parse(headers ?? '{}'),
  openModelHeaders: ({ models }) => JSON.parse(models?.headers ?? '{}'),
  parseBaseUrl(url) {
    const parsed = new URL(url);
    return { origin: parsed.origin, path: parsed.pathname.replace(/\/+$/, '') };
  },
};

function addressIn(text: string) {
  const url = new URL(text);
  return { origin: url.origin, path: url.pathname + url.search };
}

/** `Services.fetch` as a gateway process has it. */
function serviceFetch(transport: UpstreamTransport, now: () => number): CoreServices['fetch'] {
  return createPluginFetch(createTokenFetch({ transport, parseUrl: outboundParsers([]).parseTokenUrl, now }));
}

function shortError(error: GatewayError, _format: unknown, requestId: string): Reply {
  const allow = error.allow ? ['allow', error.allow.join(', ')] : [];
  return {
    status: error.status,
    headers: ['content-type', 'application/json', 'x-request-id', requestId, ...allow],
    body: JSON.stringify({ error: { message: error.message, code: error.code, param: error.param } }),
  };
}

/** The harness keeps secrets, and headers, as plain JSON: `{"api_key":"…"}`. */
function secretsOf(json: string): Credentials {
  const given = JSON.parse(json) as Record<string, string>;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, new Secret(value)]));
}
