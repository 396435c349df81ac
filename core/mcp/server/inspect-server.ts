import * as v from 'valibot';
import type { McpServerDocument } from '../../contract/protocol/mcp/mcp.ts';
import {
  capabilitiesMax,
  type McpInspectionReply,
  type SyncedCapability,
  serverInfo,
} from '../../contract/protocol/mcp/mcp-sync.ts';
import type { UpstreamSender } from '../../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../../contract/values/errors/errors.ts';
import { isCredentialHeader } from '../../contract/values/http/credential-headers.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { isStorable } from '../../contract/values/json/storable-json.ts';
import type { Clock } from '../../contract/values/time/clock.ts';
import { exchangeStream } from '../../pipeline/attempt/exchange-stream.ts';
import type { MappedHeaders } from '../headers/mapped-headers.ts';
import { lists } from '../lists/capabilities.ts';
import { listItems } from '../lists/list-items.ts';
import { closeSession, type OwnClientParts, type OwnSession, openSession } from '../sessions/own-client.ts';
import type { ServerSettings } from './server-settings.ts';
import { findTransport, firstOf, isOrder } from './transports.ts';

export interface Inspection {
  readonly sender: UpstreamSender;
  readonly document: McpServerDocument;
  readonly settingsOf: (document: McpServerDocument) => ServerSettings;
  readonly headers: Pick<MappedHeaders, 'complete'>;
  /** Milliseconds for all exchanges together. */
  readonly totalMs: number;
}

/**
 * Reads name and capabilities of a server and, with `withLists`, its tools, prompts and resources. Never rejects: errors are part of the
 * reply. Items that cannot be stored are omitted. Credentials that the server repeats are masked.
 */
export async function inspectServer(
  { sender, document, settingsOf, headers, totalMs }: Inspection,
  withLists: boolean,
  clock: Clock,
): Promise<McpInspectionReply> {
  const startMs = clock.elapsed();
  let status: number | null = null;
  let sent: Readonly<Record<string, string>> = {};
  const reply = (rest: Pick<McpInspectionReply, 'error' | 'info' | 'capabilities'>): McpInspectionReply => ({
    ...{ status, durationMs: Math.round(clock.elapsed() - startMs) },
    ...rest,
    // Definitions stay as they are, because approvals compare their hashes.
    ...withoutCredentials({ error: rest.error, info: rest.info }, sent),
  });
  try {
    const prepared = settingsOf(document);
    let server = document.mappedSecrets === undefined ? prepared : await headers.complete(prepared);
    sent = server.headers;
    const own: OwnClientParts = {
      sender,
      get server() {
        return server;
      },
      // One inspection is several exchanges. Together they may not take longer.
      get timeouts() {
        const leftMs = Math.max(1, totalMs - (clock.elapsed() - startMs));
        return { connectMs: leftMs, firstByteMs: leftMs, idleMs: leftMs, totalMs: leftMs };
      },
      onStatus: (one) => {
        status = one;
      },
    };
    if (own.server.rest !== null) {
      await callOnce(own);
      return reply({ error: null, info: null, capabilities: [] });
    }
    server = await withTransport(own);
    const session = await openSession(own);
    const info = infoOf(session);
    const capabilities = withLists ? await listAll(own, session) : [];
    await closeSession(own, session).catch(() => undefined);
    return reply({ error: null, info, capabilities });
  } catch (thrown) {
    return reply({ error: toGatewayError(thrown).message, info: null, capabilities: [] });
  }
}

/** Calls the URL of a REST API. Any reply shows that its host is there. */
async function callOnce({
  sender,
  server: { document, headers, origin, path },
  timeouts,
  onStatus,
}: OwnClientParts): Promise<void> {
  const sent = [...Object.entries(headers).flat(), 'user-agent', 'svc-gateway'];
  const call = { tenant: document.workspaceId, origin, path, method: 'GET', headers: sent, body: null, timeouts };
  const stream = exchangeStream(sender, call);
  try {
    const { status } = await stream.head;
    onStatus?.(status);
    if (status !== 401 && status !== 403 && status < 500) return;
    throw new GatewayError('upstream_status', { message: `The REST API replied with status ${status}` });
  } finally {
    stream.abort();
  }
}

/** Returns the settings with one transport, if the integration names two. */
async function withTransport(parts: OwnClientParts): Promise<ServerSettings> {
  const { document } = parts.server;
  if (!isOrder(document.transport)) return parts.server;
  const transport = (await findTransport(parts)) ?? firstOf(document.transport);
  return { ...parts.server, document: { ...document, transport } };
}

async function listAll(parts: OwnClientParts, session: OwnSession): Promise<SyncedCapability[]> {
  const offered = isObject(session.opened.capabilities) ? session.opened.capabilities : {};
  const all: SyncedCapability[] = [];
  for (const [method, list] of Object.entries(lists)) {
    // A server announces templates with its resources.
    if (offered[method.split('/')[0] as string] === undefined) continue;
    for (const definition of await listItems(parts, session, method)) {
      const name = definition[list.key];
      if (typeof name === 'string' && name !== '' && name.length <= 2_048 && isStorable(definition))
        all.push({ type: list.type, name, definition });
    }
  }
  return all.slice(0, capabilitiesMax);
}

function infoOf({ opened, revision }: OwnSession): McpInspectionReply['info'] {
  const { serverInfo: own, capabilities, instructions } = opened;
  const named = isObject(own) ? own : {};
  const { name, version, title, description, websiteUrl, icons } = named;
  const parsed = v.safeParse(serverInfo, {
    ...{ name, version, title, description, website_url: websiteUrl, icons },
    ...{ protocol_version: revision, capabilities, instructions },
  });
  return parsed.success && isStorable(parsed.output) ? parsed.output : { protocol_version: revision };
}

/** Shorter values occur in texts by chance. */
const secretLengthMin = 8;

/** Replaces the credentials of these headers in every text. Servers repeat them in errors ("bad token …"), which more people may read. */
function withoutCredentials<Value extends object>(value: Value, headers: Readonly<Record<string, string>>): Value {
  const secrets = Object.entries(headers)
    .filter(([name]) => isCredentialHeader(name))
    .map(([, secret]) => secret.replace(/^[a-z]+ +/i, ''))
    .filter((secret) => secret.length >= secretLengthMin);
  if (secrets.length === 0) return value;
  const mask = (inner: unknown): unknown => {
    if (typeof inner === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, '***'), inner);
    if (Array.isArray(inner)) return inner.map(mask);
    return isObject(inner) ? Object.fromEntries(Object.entries(inner).map(([key, one]) => [mask(key), mask(one)])) : inner;
  };
  return mask(value) as Value;
}
