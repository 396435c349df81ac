import type { RequestContext } from '../contract/context.ts';
import type { HeaderList } from '../contract/http.ts';
import { ownStoreProvider } from '../contract/own-store.ts';
import type { OperationCall } from '../contract/provider.ts';

/** Provider headers that are ours to say on this hop. */
const notPassed: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'date',
  'alt-svc',
  'strict-transport-security',
  'upgrade',
  'trailer',
  'te',
  'proxy-authenticate',
]);

/** Headers that describe bytes we are about to change. */
const describesBytes: ReadonlySet<string> = new Set([
  'content-encoding',
  'etag',
  'content-md5',
  'digest',
  'content-digest',
  'content-type',
]);

/**
 * The provider's headers as the client gets them. With `contentType` the body was rewritten, so what described the old bytes
 * goes too.
 */
export function passedHeaders(headers: HeaderList, contentType: string | null): HeaderList {
  const passed: HeaderList = contentType === null ? [] : ['content-type', contentType];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (notPassed.has(name) || (contentType !== null && describesBytes.has(name)) || name.startsWith('x-svc-')) continue;
    passed.push(name, headers[i + 1] as string);
  }
  return passed;
}

/** Adds the service's own headers (data-plane §3) under the prefix the client used. */
export function addGatewayHeaders(ctx: RequestContext, headers: HeaderList, call: OperationCall | null): void {
  const prefix = ctx.headerPrefix;
  headers.push(`${prefix}trace-id`, ctx.traceId);
  if (ctx.targetPath !== null) {
    headers.push(
      `${prefix}last-used-option-index`,
      ctx.targetPath,
      `${prefix}retry-attempt-count`,
      String(ctx.retryAttemptCount),
    );
  }
  if (ctx.provider !== null && ctx.provider !== ownStoreProvider) headers.push(`${prefix}provider`, ctx.provider);
  // Once a target was chosen, saying nothing would leave open whether anybody looked.
  const cacheStatus = ctx.cacheStatus ?? (ctx.targetPath === null ? null : 'DISABLED');
  if (cacheStatus !== null) headers.push(`${prefix}cache-status`, cacheStatus);
  if (call !== null) {
    if (call.dropped.length > 0) headers.push(`${prefix}dropped-params`, headerList(call.dropped));
    if (call.adapted.length > 0) headers.push(`${prefix}adapted`, headerList(call.adapted));
  }
  for (const item of ctx.replyHeaders) headers.push(item);
}

/**
 * Comments of an event stream (HTML standard, server-sent events: clients ignore them) with what a translator dropped or adapted after
 * the headers had left. They follow the last event and repeat the names of the headers. Empty if there is nothing to report.
 * `headed` = how many names of each list the headers have.
 */
export function lateNotes(prefix: string, call: OperationCall, headed: { dropped: number; adapted: number }): string {
  const lines: string[] = [];
  if (call.dropped.length > headed.dropped)
    lines.push(`: ${prefix}dropped-params: ${headerList(call.dropped.slice(headed.dropped))}\n`);
  if (call.adapted.length > headed.adapted) lines.push(`: ${prefix}adapted: ${headerList(call.adapted.slice(headed.adapted))}\n`);
  return lines.length === 0 ? '' : `${lines.join('')}\n`;
}

/** Names from a request body may hold anything: only what fits a header value is shown, at most 1,000 characters. */
function headerList(names: readonly string[]): string {
  return names
    .join(', ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 1000);
}
