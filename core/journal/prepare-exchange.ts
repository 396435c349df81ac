import type { CapturedBytes, CapturedContent, CapturedExchange } from '../contract/plugin/record/content-capture.ts';
import type { ExchangeContent } from '../contract/protocol/record-contents.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import { isObject } from '../contract/values/json/json.ts';
import type { Masks } from './mask-content.ts';
import { join, sideOf } from './prepare-side.ts';

/**
 * Turns the last call to a provider into what is stored. Bodies that are those of the request or the reply are not stored again. Headers and
 * parameters of the URL are masked unless they are known to hold no credential: providers choose where their credential is sent.
 */
export function exchangeOf(
  exchange: CapturedExchange,
  { requestHeaders, requestBody, operation, reply }: CapturedContent,
  masks: Masks,
  bytesMax: number,
): ExchangeContent {
  const { url, method, body, status, response } = exchange;
  const headers = shownHeaders(exchange.headers, requestHeaders, masks);
  const sent = { url: shownUrl(url), method, headers };
  const received = { status, headers: masks.headers(response.headers) };
  return {
    params: paramsOf(exchange, masks, bytesMax),
    request: { ...sent, ...sentBody(exchange.headers, body, requestBody, masks, bytesMax) },
    response: status === 0 ? null : { ...received, ...receivedBody(response, reply, operation, masks) },
  };
}

const unchanged = { body: null, omitted: 'unchanged' } as const;

type Body = ExchangeContent['params'];

function paramsOf({ params }: CapturedExchange, masks: Masks, bytesMax: number): Body {
  if (params === null) return unchanged;
  const json = JSON.stringify(params);
  if (Buffer.byteLength(json) <= bytesMax) return { body: masks.body(params), omitted: null };
  return { body: masks.text(Buffer.from(json).subarray(0, bytesMax).toString('utf8')), omitted: 'cut' };
}

function sentBody(
  headers: HeaderList,
  body: CapturedExchange['body'],
  requestBody: Uint8Array | null,
  masks: Masks,
  bytesMax: number,
): Body {
  if (body === 'not_held') return { body: null, omitted: 'not_held' };
  if (body === null) return { body: null, omitted: null };
  if (requestBody !== null && (body === requestBody || Buffer.compare(body, requestBody) === 0)) return unchanged;
  const side = sideOf(headers, body.subarray(0, bytesMax), body.length > bytesMax, masks, (text) => text);
  return { body: side.body, omitted: side.omitted };
}

function receivedBody(response: CapturedBytes, reply: CapturedBytes, operation: string | null, masks: Masks): Body {
  if (isSame(response, reply)) return unchanged;
  const { body, omitted } = sideOf(response.headers, join(response.chunks), response.isCut, masks, (text) => text);
  return { body: operation === 'embed' ? withoutNumbers(body) : body, omitted };
}

function isSame(one: CapturedBytes, other: CapturedBytes): boolean {
  if (one.bytes !== other.bytes || one.isCut !== other.isCut) return false;
  if (one.chunks.length === other.chunks.length && one.chunks.every((chunk, at) => chunk === other.chunks[at])) return true;
  return Buffer.compare(join(one.chunks), join(other.chunks)) === 0;
}

/** Leaves out vectors of embeddings in any provider's format. */
function withoutNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return typeof value[0] === 'number' ? null : value.map(withoutNumbers);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutNumbers(inner)]));
}

/** Headers of calls to providers that hold no credential. */
const openHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'anthropic-beta',
  'anthropic-version',
  'content-encoding',
  'content-length',
  'content-type',
  'openai-beta',
  'traceparent',
  'user-agent',
]);

/** Shows open headers, and those that the client sent with the same value, as the client's are shown. */
function shownHeaders(headers: HeaderList, ofClient: HeaderList, masks: Masks): Record<string, string> {
  const sentByClient = new Set<string>();
  for (let at = 0; at + 1 < ofClient.length; at += 2)
    sentByClient.add(`${(ofClient[at] as string).toLowerCase()}:${ofClient[at + 1]}`);
  const list: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [(headers[at] as string).toLowerCase(), headers[at + 1] as string];
    list.push(name, openHeaders.has(name) || sentByClient.has(`${name}:${value}`) ? value : '***');
  }
  return masks.headers(list);
}

/** Query parameters of calls to providers that hold no credential. */
const openParameters: ReadonlySet<string> = new Set(['alt', 'api-version', 'beta']);

function shownUrl(url: string): string {
  const start = url.indexOf('?');
  if (start === -1) return url;
  const shown = url
    .slice(start + 1)
    .split('&')
    .map((part) => {
      const name = part.split('=', 1)[0] as string;
      return openParameters.has(name.toLowerCase()) || part === name ? part : `${name}=***`;
    });
  return `${url.slice(0, start)}?${shown.join('&')}`;
}
