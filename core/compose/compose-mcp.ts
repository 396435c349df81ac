import { LRUCache } from 'lru-cache';
import type { Settings } from '../../config/settings.ts';
import { createExternalTokens } from '../../plugins/guardrails/checks/jwt/external-tokens.ts';
import { createToolGuard } from '../../plugins/guardrails/tool-guard.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import { keyPurposes } from '../contract/protocol/credentials/key-purposes.ts';
import type { SecretManagers } from '../contract/protocol/credentials/secret-managers.ts';
import type { InternalFetch } from '../contract/protocol/internal-api.ts';
import type { ExternalTokenRules, ExternalTokens } from '../contract/protocol/mcp/external-tokens.ts';
import type { McpServerDocument } from '../contract/protocol/mcp/mcp.ts';
import type { NoticeChannel } from '../contract/protocol/notices/notice-channel.ts';
import type { UpstreamSender } from '../contract/provider/upstream.ts';
import { deriveKey } from '../contract/values/credentials/secret.ts';
import type { HeaderList, InboundRequest, ReplySink } from '../contract/values/http/http.ts';
import type { Log } from '../contract/values/log/log.ts';
import { createOpenStreams } from '../json-rpc/open-streams.ts';
import { createToolGuardrails } from '../json-rpc/tool-guardrails.ts';
import { createIdentitySigner, type IdentitySigner } from '../jwt/sign-identity.ts';
import { replyResourceMetadata } from '../mcp/credentials/resource-metadata.ts';
import { createUpstreamTokens } from '../mcp/credentials/upstream-tokens.ts';
import { createMappedHeaders } from '../mcp/headers/mapped-headers.ts';
import { createToolLists } from '../mcp/lists/tool-lists.ts';
import { createPeers, type PeerNotice } from '../mcp/peers/peers.ts';
import { createToolReports } from '../mcp/pinning/report-tools.ts';
import { mcpErrorReply } from '../mcp/refusals.ts';
import { createClientQuestions } from '../mcp/revisions/client-questions.ts';
import { createServerRevisions } from '../mcp/revisions/server-revisions.ts';
import { createMcpHandler } from '../mcp/serve-mcp.ts';
import { serverSettings } from '../mcp/server/server-settings.ts';
import { createTransports } from '../mcp/server/transports.ts';
import { initializeOrDiscover, openSession } from '../mcp/sessions/own-client.ts';
import { createOwnSessions } from '../mcp/sessions/own-sessions.ts';
import { questionStreams } from '../mcp/sessions/question-stream.ts';
import { createSessionIds } from '../mcp/sessions/session-id.ts';
import { createSseSessions, type SseSessions } from '../mcp/sse/sse-sessions.ts';
import type { ProtocolHandlers } from './endpoint-handlers.ts';
import { externalTokenOpener, guardrailOpener, mcpHeaderOpener, mcpTokenOpener, signingKeyOpener } from './open-sealed.ts';
import type { OutboundParsers } from './outbound-parsers.ts';

/** The MCP gateway of a process. */
export interface ComposedMcp extends ProtocolHandlers {
  readonly counts: SseSessions['counts'];
  /** Ends the streams of notices, which have no end of their own. */
  endStreams(): void;
  /** Ends the exchange of messages with other gateway processes. */
  close(): void;
  /** Replies to requests for metadata, which need no credentials. Returns false for other requests. */
  replyMetadata(request: InboundRequest, sink: ReplySink): boolean;
}

type McpSettings = Pick<
  Settings,
  'clusterKey' | 'publicUrl' | 'mcpPublicUrl' | 'corsOrigins' | 'mcpRequestTimeoutMs' | 'connectTimeoutMs'
>;

interface Parts {
  readonly settings: McpSettings;
  readonly parseTokenUrl: OutboundParsers['parseTokenUrl'];
  readonly sender: UpstreamSender;
  readonly services: CoreServices;
  readonly secretManagers: SecretManagers;
  readonly fetch: InternalFetch;
  readonly log: Log;
  /** Reach the other gateway processes. */
  readonly channels: readonly NoticeChannel<PeerNotice>[];
}

/** Puts the MCP gateway together. */
export function composeMcp({
  settings,
  parseTokenUrl,
  sender,
  services,
  secretManagers,
  fetch,
  log,
  channels,
}: Parts): ComposedMcp {
  const { clock, documents, circuits } = services;
  const { mcpRequestTimeoutMs: ms, connectTimeoutMs: connectMs, publicUrl, mcpPublicUrl } = settings;
  const openStreams = createOpenStreams();
  const peers = createPeers(channels, deriveKey(settings.clusterKey, keyPurposes.mcpPeer));
  const sseSessions = createSseSessions(peers);
  const timeouts = { connectMs, firstByteMs: ms, idleMs: ms, totalMs: ms };
  const questionsOf = questionStreams(clock, async ({ document: { id, workspaceId, slug } }) => {
    return (await documents.get('mcp-server', `${workspaceId}/${slug}`))?.id === id;
  });
  const routedSessions = createOwnSessions(sender, clock, timeouts, circuits, openSession, openStreams, questionsOf);
  const signer = createIdentitySigner({ documents, clock, openKey: signingKeyOpener(settings.clusterKey) });
  const handle = createMcpHandler({
    settingsOf: serverSettings({ openHeaders: mcpHeaderOpener(settings.clusterKey), parseUrl: parseTokenUrl }),
    mappedHeaders: createMappedHeaders(secretManagers),
    origins: new Set([
      new URL(publicUrl).origin,
      new URL(mcpPublicUrl).origin,
      ...settings.corsOrigins.map((origin) => origin.toLowerCase()),
    ]),
    sessionIds: createSessionIds(deriveKey(settings.clusterKey, keyPurposes.mcpSession)),
    ownSessions: createOwnSessions(sender, clock, timeouts, circuits, initializeOrDiscover, openStreams, questionsOf),
    routedSessions,
    toolLists: createToolLists(routedSessions, clock, createToolReports(fetch, log)),
    revisions: createServerRevisions(clock),
    sseSessions,
    clientQuestions: createClientQuestions(peers, ms),
    transports: createTransports(routedSessions.partsOf, clock),
    openStreams,
    toolGuardrails: createToolGuardrails(createToolGuard(services), guardrailOpener(settings.clusterKey), documents),
    externalTokensOf: externalTokens(externalTokenOpener(settings.clusterKey), services),
    signIdentity: signer.sign,
    requestTimeoutMs: ms,
    connectTimeoutMs: connectMs,
    tokens: createUpstreamTokens({ documents, clock, fetch, openToken: mcpTokenOpener(settings.clusterKey) }),
  });
  return {
    handle,
    counts: sseSessions.counts,
    errorReply: (ctx, error) => mcpErrorReply(ctx, error, mcpPublicUrl),
    endStreams: () => openStreams.close(),
    close: () => peers.close(),
    replyMetadata: (request, sink) => replyResourceMetadata(settings, request, sink) || replyKeySet(signer, request, sink),
  };
}

/** Validation of external tokens. Servers with the same rules share keys and verdicts. */
function externalTokens(
  open: ReturnType<typeof externalTokenOpener>,
  services: CoreServices,
): (document: McpServerDocument) => ExternalTokens | null {
  const known = new LRUCache<string, ExternalTokens>({ max: 1_000 });
  const ofDocument = new WeakMap<McpServerDocument, ExternalTokens>();
  return (document) => {
    if (!document.externalTokens) return null;
    let tokens = ofDocument.get(document);
    if (!tokens) {
      const rules = open(document) as ExternalTokenRules;
      const name = JSON.stringify([document.integrationId, rules]);
      tokens = known.get(name) ?? createExternalTokens(rules, services);
      known.set(name, tokens);
      ofDocument.set(document, tokens);
    }
    return tokens;
  };
}

/** Replies to a request for the keys that sign the identity of callers. Returns false for other paths. */
function replyKeySet(signer: IdentitySigner, request: InboundRequest, sink: ReplySink): boolean {
  if (request.method !== 'GET' || request.path !== '/.well-known/jwks.json') return false;
  const headers: HeaderList = ['content-type', 'application/json'];
  signer.keySet().then(
    (keys) => sink.send(200, [...headers, 'cache-control', 'public, max-age=300'], JSON.stringify(keys)),
    () => sink.send(503, [...headers, 'retry-after', '1'], '{"error":"unavailable"}'),
  );
  return true;
}
