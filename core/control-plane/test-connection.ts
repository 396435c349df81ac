import {
  type ConnectionCheck,
  type ConnectionDiagnosis,
  connectionTest,
  connectionTestMs,
} from '../contract/protocol/control-plane-calls/connection-test.ts';
import type { ProviderDocument } from '../contract/protocol/documents.ts';
import type { OutgoingCall } from '../contract/provider/provider.ts';
import type { SignServices } from '../contract/provider/sign-services.ts';
import type { UpstreamSender } from '../contract/provider/upstream.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { isCredentialHeader } from '../contract/values/http/credential-headers.ts';
import { findHeader, type InboundRequest, type ReplySink } from '../contract/values/http/http.ts';
import { parseErrorBody } from '../pipeline/attempt/reply-body.ts';
import { readWholeReply } from '../pipeline/attempt/whole-reply.ts';
import type { ResolvedTarget, TargetBuilder } from '../pipeline/target/build-target.ts';
import { buildOpened, type DocumentOpener, hasMapped, openDocument } from '../pipeline/target/open-document.ts';
import { senderOf } from '../pipeline/target/sender-of.ts';
import { type CallFields, callFields, errorChecks, pageCheck, statusChecks } from './diagnose.ts';
import { replyToControlPlane } from './serve-control-plane.ts';

export interface ConnectionTestOptions extends DocumentOpener {
  readonly builder: TargetBuilder;
  readonly transport: UpstreamSender;
  readonly sign: SignServices;
  readonly clusterKey: string;
}

const replyBytesMax = 16 * 1024 * 1024;
/** Maximum number of concurrent tests. Each holds at most one list of models. */
const atOnceMax = 8;
/** Maximum number of deployments that are checked per account. */
const deploymentsMax = 4;

/** Serves `connectionTestPath`. Makes the cheapest authenticated call of a provider and returns the meaning of its outcome. */
export function createConnectionTests(options: ConnectionTestOptions): (request: InboundRequest, sink: ReplySink) => void {
  return replyToControlPlane({
    clusterKey: options.clusterKey,
    question: connectionTest,
    atOnceMax,
    reply: ({ document }) => testConnection(document, options),
  });
}

/** Makes the calls and interprets their outcome. Never rejects for an error of the provider or its settings. */
async function testConnection(document: ProviderDocument, options: ConnectionTestOptions): Promise<ConnectionDiagnosis> {
  let timer: NodeJS.Timeout | undefined;
  /** The field that is being checked. */
  let field = 'secret_mappings';
  const timeout = new Promise<ConnectionCheck[]>((resolve) => {
    timer = setTimeout(() => resolve([{ field, status: 'failed', message: 'no reply in time' }]), connectionTestMs);
  });
  const checked = checkSecrets(document, options).then((secrets) => {
    if (secrets.some(({ status }) => status === 'failed')) return secrets;
    const fields = fieldsOf(document, options);
    field = fields.host;
    return check(document, options, fields).then((checks) => [...secrets, ...checks]);
  });
  const checks = await Promise.race([checked, timeout]);
  clearTimeout(timer);
  return { ok: checks.every(({ status }) => status !== 'failed'), checks };
}

/** Checks that secret managers return the values of this provider. Only this check reports why they do not. */
async function checkSecrets(document: ProviderDocument, { secretManagers }: ConnectionTestOptions): Promise<ConnectionCheck[]> {
  if (!hasMapped(document) || !secretManagers) return [];
  const errors = await secretManagers.check(document);
  return (document.mappedSecrets ?? []).map(({ target, slug }, index) => {
    const [status, what] = errors[index] ? (['failed', errors[index]] as const) : (['ok', 'the value can be read'] as const);
    return { field: `secret_mappings[${index}]`, status, message: `${target}, from the secret reference ${slug}: ${what}` };
  });
}

function fieldsOf({ provider, settings }: ProviderDocument, { builder }: ConnectionTestOptions): CallFields {
  try {
    return callFields(builder.adapterOf(provider), settings);
  } catch {
    return callFields(null, settings);
  }
}

async function check(given: ProviderDocument, options: ConnectionTestOptions, fields: CallFields): Promise<ConnectionCheck[]> {
  try {
    const adapter = options.builder.adapterOf(given.provider);
    const { document, credentials, headers } = await openDocument(given, options);
    const resolved = buildOpened(document, () =>
      options.builder.build(adapter, document.slug, document.settings, credentials, headers),
    );
    const list = resolved.adapter.models?.path(resolved.settings) ?? below(resolved, '/models');
    const { status, message, isPage } = await ask(resolved, 'GET', resolved.basePath + list, null, document, options);
    if (isPage) return [pageCheck(fields)];
    const checks = statusChecks(fields, status, message);
    if (checks.some((one) => one.status === 'failed')) return checks;
    return [...checks, ...(await checkDeployments(resolved, document, options))];
  } catch (thrown) {
    return errorChecks(fields, toGatewayError(thrown));
  }
}

/** Checks that the deployments of an integration exist, with free calls. */
async function checkDeployments(
  resolved: ResolvedTarget,
  document: ProviderDocument,
  options: ConnectionTestOptions,
): Promise<ConnectionCheck[]> {
  const probes = resolved.adapter.deploymentProbes?.(document.settings) ?? [];
  return Promise.all(
    probes.slice(0, deploymentsMax).map(async (probe): Promise<ConnectionCheck> => {
      const field = `configurations.${probe.field}`;
      const path = resolved.basePath + probe.path;
      const { status, message } = await ask(resolved, 'POST', path, JSON.stringify(probe.body), document, options);
      if (status === 404)
        return { field, status: 'failed', message: `the deployment does not exist (404)${message && `: ${message}`}` };
      if (status === 401 || status === 403 || status >= 500)
        return { field, status: 'unknown', message: `responded with ${status}` };
      return { field, status: 'ok', message: 'the deployment exists' };
    }),
  );
}

function below(resolved: ResolvedTarget, path: string): string {
  return resolved.adapter.proxyPath?.(path, resolved.settings) ?? path;
}

async function ask(
  resolved: ResolvedTarget,
  method: 'GET' | 'POST',
  path: string,
  body: string | null,
  document: ProviderDocument,
  options: ConnectionTestOptions,
): Promise<{ readonly status: number; readonly message: string; readonly isPage: boolean }> {
  const headers = ['accept', 'application/json', ...(body === null ? [] : ['content-type', 'application/json'])];
  const call: OutgoingCall = {
    method,
    origin: resolved.origin,
    path,
    headers: [...headers, ...resolved.headers],
    body: body === null ? null : Buffer.from(body),
  };
  await resolved.adapter.sign?.(call, resolved.settings, resolved.credentials, options.sign);
  const ms = connectionTestMs;
  const timeouts = { connectMs: ms, firstByteMs: ms, idleMs: ms, totalMs: ms };
  const reply = await readWholeReply(
    senderOf(resolved, options.transport),
    { ...call, tenant: document.organisationId, timeouts },
    replyBytesMax,
    () => new GatewayError('upstream_invalid', { message: 'The reply is too long' }),
  );
  if (reply.status < 300) {
    const type = findHeader(reply.headers, 'content-type') ?? '';
    return { status: reply.status, message: '', isPage: /^text\/html\b/i.test(type) };
  }
  const error = resolved.adapter.error(reply.status, parseErrorBody(reply.body), reply.headers);
  return { status: reply.status, message: conceal(error.message, resolved), isPage: false };
}

/** Returns the provider's message on one line, without the parts that repeat the credential. */
function conceal(text: string, { credentials, headers }: ResolvedTarget): string {
  const secrets = Object.values(credentials).map((secret) => secret.reveal());
  for (let i = 0; i < headers.length; i += 2) {
    if (isCredentialHeader(headers[i] as string)) secrets.push(headers[i + 1] as string);
  }
  let safe = text;
  for (const value of secrets) if (value.length >= 4) safe = safe.replaceAll(value, '***');
  safe = safe.replace(/\s+/g, ' ').slice(0, 300);
  // Providers often repeat the first and last characters of a rejected key.
  return safe.replace(/\b(?:sk|key|pk|AKIA|AIza)[-_A-Za-z0-9*.]{6,}/g, '***');
}
