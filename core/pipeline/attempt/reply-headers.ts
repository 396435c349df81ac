import type { RequestContext } from '../../contract/plugin/context.ts';
import { defaultPrefix } from '../../contract/protocol/header-names.ts';
import { ownStoreProvider } from '../../contract/provider/own-store.ts';
import type { OperationCall } from '../../contract/provider/provider.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';

/**
 * Provider headers that would take effect on the gateway's own origin, where users have their sessions: cookies, storage, CORS,
 * browser policies and reports, alternative services, and commands to proxies. Also those of which the gateway writes its own.
 */
const notPassed: ReadonlySet<string> = new Set([
  'content-length',
  'date',
  'alt-svc',
  'clear-site-data',
  'content-security-policy',
  'content-security-policy-report-only',
  'nel',
  'origin-agent-cluster',
  'permissions-policy',
  'public-key-pins',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'service-worker-allowed',
  'set-cookie',
  'set-cookie2',
  'set-login',
  'sourcemap',
  'speculation-rules',
  'strict-transport-security',
  // Commands to a proxy in front of the gateway: nginx would reply with another path or file, Envoy would take the gateway out of service.
  'x-accel-charset',
  'x-accel-expires',
  'x-accel-limit-rate',
  'x-accel-redirect',
  'x-envoy-degraded',
  'x-envoy-immediate-health-check-fail',
  'x-litespeed-location',
  'x-reproxy-file',
  'x-reproxy-url',
  'x-sendfile',
]);

/** Name for a provider's `location`. Clients do not follow it, because a relative one would be a path of the gateway. */
const movedLocation = `${defaultPrefix}upstream-location`;

/** The `location` of a new call of a realtime session over WebRTC. Clients read its id to control the call, so the same path of the gateway is sent. */
const callLocation = /\/realtime\/calls\/(rtc_\w+)$/;

/** Headers that describe bytes that the gateway changes. */
const describesBytes: ReadonlySet<string> = new Set([
  'content-encoding',
  'etag',
  'content-md5',
  'digest',
  'content-digest',
  'content-type',
]);

/**
 * Returns the provider's headers for the client, without those that would take effect on its origin, and with `location` renamed. With
 * `contentType` the body was rewritten, so the headers that describe the old bytes are removed too.
 */
export function passedHeaders(headers: HeaderList, contentType: string | null): HeaderList {
  const passed: HeaderList = contentType === null ? [] : ['content-type', contentType];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (notPassed.has(name) || (contentType !== null && describesBytes.has(name))) continue;
    if (name.startsWith(defaultPrefix) || name.startsWith('access-control-')) continue;
    const value = headers[i + 1] as string;
    const call = name === 'location' ? callLocation.exec(value) : null;
    if (call !== null) passed.push('location', `/v1/realtime/calls/${call[1]}`);
    passed.push(name === 'location' ? movedLocation : name, value);
  }
  return passed;
}

/**
 * Adds the service's own headers under the prefix that the client used. A reply of a provider that sends no request id gets the
 * trace id under the names that SDKs read, which finds its log.
 */
export function addGatewayHeaders(ctx: RequestContext, headers: HeaderList, status: number, call: OperationCall | null): void {
  if (status !== 101) addRequestId(ctx, headers);
  const prefix = ctx.headerPrefix;
  if (prefix !== defaultPrefix) removePrefixed(headers, prefix);
  const names = namesOf(prefix);
  headers.push(names.traceId, ctx.traceId);
  if (ctx.targetPath !== null) {
    headers.push(names.optionIndex, ctx.targetPath, names.retryCount, String(ctx.retryAttemptCount));
  }
  if (ctx.provider !== null && ctx.provider !== ownStoreProvider) headers.push(names.provider, ctx.provider);
  // If a target was chosen, the header is always sent, so that clients can see if the cache was used.
  const cacheStatus = ctx.cacheStatus ?? (ctx.targetPath === null ? null : 'DISABLED');
  if (cacheStatus !== null) headers.push(names.cacheStatus, cacheStatus);
  if (call !== null) {
    if (call.dropped.length > 0) headers.push(`${prefix}dropped-params`, headerList(call.dropped));
    if (call.adapted.length > 0) headers.push(`${prefix}adapted`, headerList(call.adapted));
  }
  for (const item of ctx.replyHeaders) headers.push(item);
}

const ownNames = (prefix: string) => ({
  traceId: `${prefix}trace-id`,
  optionIndex: `${prefix}last-used-option-index`,
  retryCount: `${prefix}retry-attempt-count`,
  provider: `${prefix}provider`,
  cacheStatus: `${prefix}cache-status`,
});
const knownNames = new Map<string, ReturnType<typeof ownNames>>();

/**
 * Returns the names of the headers that most replies have. Joined again for each reply, they would be copied and hashed again, which takes 7,000
 * instructions.
 */
function namesOf(prefix: string): ReturnType<typeof ownNames> {
  let names = knownNames.get(prefix);
  if (names === undefined) {
    names = ownNames(prefix);
    knownNames.set(prefix, names);
  }
  return names;
}

/** Removes headers of a provider that look like the gateway's own. */
function removePrefixed(headers: HeaderList, prefix: string): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) if ((headers[i] as string).startsWith(prefix)) headers.splice(i, 2);
}

function addRequestId(ctx: RequestContext, headers: HeaderList): void {
  const given = requestIdOf(ctx, headers);
  if (findHeader(headers, 'x-request-id') === undefined) headers.push('x-request-id', given);
  if (ctx.endpoint?.format === 'messages' && findHeader(headers, 'request-id') === undefined) headers.push('request-id', given);
}

/** Returns the provider's id of a request, or the trace id. */
export function requestIdOf({ traceId }: Pick<RequestContext, 'traceId'>, headers: HeaderList): string {
  return findHeader(headers, 'request-id') ?? findHeader(headers, 'x-request-id') ?? traceId;
}

/**
 * Returns comments for an event stream (HTML standard, server-sent events: clients ignore them) with everything that a translator
 * dropped or adapted after the headers were sent. They follow the last event and repeat the names of the headers. Empty if there
 * is nothing to report. `headed` is the number of names that the headers have of each list.
 */
export function lateNotes(prefix: string, call: OperationCall, headed: { dropped: number; adapted: number }): string {
  const lines: string[] = [];
  if (call.dropped.length > headed.dropped)
    lines.push(`: ${prefix}dropped-params: ${headerList(call.dropped.slice(headed.dropped))}\n`);
  if (call.adapted.length > headed.adapted) lines.push(`: ${prefix}adapted: ${headerList(call.adapted.slice(headed.adapted))}\n`);
  return lines.length === 0 ? '' : `${lines.join('')}\n`;
}

/** Names from a request body may hold any characters: only valid header characters are sent, at most 1,000. */
function headerList(names: readonly string[]): string {
  return names
    .join(', ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 1000);
}
