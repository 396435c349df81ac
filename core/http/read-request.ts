import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { type ErrorCode, GatewayError } from '../contract/values/errors/errors.ts';
import { findHeader, type HeaderList, type InboundRequest, type RequestBody } from '../contract/values/http/http.ts';
import { passedNetworks } from '../contract/values/http/passed-networks.ts';
import { type AddressRules, hostPattern, ownAddress } from './own-address.ts';
import { remoteAddressOf } from './remote-address.ts';
import { emptyBody } from './request-body.ts';

/** Rules for request heads, prepared once from the settings. */
export interface RequestRules {
  /** Longest header block in bytes: names, values and 4 bytes per header. */
  readonly headerBytesMax: number;
  /** Header name → `kind` for the few names the guard cares about. */
  readonly kinds: ReadonlyMap<string, number>;
  /** Serial number of the last request that had each `kind`. It detects duplicates without being cleared for each request. */
  readonly lastSeen: Uint32Array;
  /** The entry of this installation in `cdn-loop`; null: circles are not detected. */
  readonly loopMark: string | null;
}

/** Maximum bytes of path and query together. A longer target gets 414. */
const targetBytesMax = 8192;

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const knownMethods: ReadonlySet<string> = new Set(methods);
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Numbers of kinds. Credential and routing names get the numbers after these. */
const host = 0;
const contentLength = 1;
const transferEncoding = 2;
const passed = 3;

/** Prepares the guard. `prefixes` are the gateway header prefixes in use, aliases included (`x-svc-`). */
export function compileRequestRules(
  prefixes: readonly string[],
  headerBytesMax: number,
  loopMark: string | null = null,
): RequestRules {
  const kinds = new Map<string, number>([
    ['host', host],
    ['content-length', contentLength],
    ['transfer-encoding', transferEncoding],
    [passedNetworks, passed],
  ]);
  // Providers could read the body by the other of two types.
  for (const name of ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'content-type']) kinds.set(name, kinds.size);
  let kindsCount = kinds.size;
  for (const name of ['api-key', 'config', 'provider', 'virtual-key']) {
    // One kind for all prefixes, so that two keys under different prefixes count as duplicates.
    for (const prefix of prefixes) if (!kinds.has(prefix + name)) kinds.set(prefix + name, kindsCount);
    kindsCount++;
  }
  return { headerBytesMax, kinds, lastSeen: new Uint32Array(kindsCount), loopMark };
}

/** One parsed request. `error` is the reason to reject it; the other fields are set as far as they could be read. */
export class ParsedRequest implements InboundRequest {
  method = '';
  path = '';
  query = '';
  readonly headers: HeaderList = [];
  remoteAddress = '';
  country: string | null = null;
  body: RequestBody = emptyBody;
  /** As `RequestBody.length`. */
  bodyLength = 0;
  /** False for a method that usually has a body if both length headers are missing. */
  hasLength = true;
  error: GatewayError | null = null;
  webSocketProtocols: readonly string[] | null = null;
  /** True for a call of a gateway of this installation. */
  cameBack = false;
  /** Null until the server sets it. */
  addressRules: AddressRules | null = null;
  /** True if the connection comes from a trusted proxy. */
  isProxied = false;

  header(name: string): string | undefined {
    return findHeader(this.headers, name);
  }

  ownAddress(): string {
    return this.addressRules === null ? '' : ownAddress(this.addressRules, (name) => this.header(name), this.isProxied);
  }
}

/**
 * Copies everything out of the addon's request, which is invalid after its callback, and applies the framing guard. The addon
 * accepts framing that a server in front may read differently (repeated content-length, two transfer-encodings, an empty host, a
 * host with userinfo). The guard rejects it before the request is processed. RFC 9110 section 7.2, RFC 9112 sections 3.2, 5 and
 * 6.3. The addon itself rejects, with a page of its own: a broken request line (505), header names or line ends that break the
 * grammar (400, or no reply until its idle timeout, by build), content-length with transfer-encoding (400), and more than 98
 * headers or a block above its own limit (431). The guard does not see an empty header name: see empty-names.ts.
 */
export function readRequest(rules: RequestRules, req: HttpRequest, res: HttpResponse): ParsedRequest {
  const request = new ParsedRequest();
  request.method = req.getCaseSensitiveMethod();
  request.path = req.getUrl();
  request.query = req.getQuery() ?? '';
  request.remoteAddress = remoteAddressOf(res.getRemoteAddress());
  reading.begin(rules, req, request);
  req.forEach(readHeader);
  if (request.error === null) checkStart(request, rules);
  if (request.error === null) checkFraming(request);
  reading.end();
  return request;
}

/** State of the request being read. `forEach` is synchronous, so a single callback serves all requests. */
const reading = {
  serial: 0,
  rules: null as RequestRules | null,
  req: null as HttpRequest | null,
  request: null as ParsedRequest | null,
  hasHost: false,
  length: -1,
  chunked: false,
  headerBytes: 0,
  /** The last host that matched the pattern. Most requests of a process name the same host. */
  knownHost: '',

  begin(rules: RequestRules, req: HttpRequest, request: ParsedRequest): void {
    this.serial = (this.serial + 1) >>> 0;
    this.rules = rules;
    this.req = req;
    this.request = request;
    this.hasHost = false;
    this.length = -1;
    this.chunked = false;
    this.headerBytes = 0;
  },

  end(): void {
    this.req = null;
    this.request = null;
  },
};

function readHeader(name: string, value: string): void {
  const request = reading.request as ParsedRequest;
  const exact = checkCharacters(request, name, value);
  request.headers.push(name, exact);
  reading.headerBytes += name.length + exact.length + 4;
  const rules = reading.rules as RequestRules;
  const kind = rules.kinds.get(name);
  if (kind === undefined) return;
  if (kind === passed) {
    if (rules.loopMark !== null && exact.includes(rules.loopMark)) request.cameBack = true;
    return;
  }
  if (rules.lastSeen[kind] === reading.serial) refuse(request, 'bad_request', `The ${name} header is repeated`, name);
  rules.lastSeen[kind] = reading.serial;
  if (kind === host) readHost(request, value);
  else if (kind === contentLength) reading.length = readLength(request, value);
  else if (kind === transferEncoding) {
    reading.chunked = true;
    if (value !== 'chunked') refuse(request, 'bad_request', 'The transfer-encoding header must be exactly "chunked"', name);
  }
}

/**
 * Rejects control characters, and returns the value as latin1, because the addon's `forEach` decodes it as UTF-8. Both cores have
 * already trimmed bytes above 0x7f at either end of a value, like spaces.
 */
function checkCharacters(request: ParsedRequest, name: string, value: string): string {
  let ascii = true;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) {
      refuse(request, 'bad_request', 'A header value contains a control character', name);
      return value;
    }
    if (code > 0x7f) ascii = false;
  }
  for (let i = 0; i < name.length; i++) {
    if (!isTokenCode(name.charCodeAt(i)))
      refuse(request, 'bad_request', 'A header name contains a character that is not allowed', '');
  }
  if (ascii) return value;
  // `getHeader` returns the bytes as latin1, but only of the first header of a name.
  if (findHeader(request.headers, name) === undefined) return (reading.req as HttpRequest).getHeader(name);
  if (value.includes('\ufffd')) refuse(request, 'bad_request', 'A repeated header value is not valid UTF-8', name);
  return Buffer.from(value, 'utf8').toString('latin1');
}

function isTokenCode(code: number): boolean {
  if (code >= 0x61 && code <= 0x7a) return true;
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return true;
  return code > 0x20 && code < 0x7f && !'"(),/:;<=>?@[\\]{}'.includes(String.fromCharCode(code));
}

function readHost(request: ParsedRequest, value: string): void {
  reading.hasHost = value !== '';
  if (value === reading.knownHost || value === '') return;
  if (hostPattern.test(value)) reading.knownHost = value;
  else refuse(request, 'bad_request', 'The host header must be a host name or address with an optional port', 'host');
}

function readLength(request: ParsedRequest, value: string): number {
  let length = 0;
  for (let i = 0; i < value.length; i++) {
    const digit = value.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) length = Number.NaN;
    else length = length * 10 + digit;
  }
  if (value !== '' && Number.isSafeInteger(length)) return length;
  refuse(request, 'bad_request', 'The content-length header must be digits', 'content-length');
  return 0;
}

function checkStart(request: ParsedRequest, rules: RequestRules): void {
  if (!knownMethods.has(request.method)) return refuseMethod(request);
  if (reading.headerBytes > rules.headerBytesMax) return refuse(request, 'headers_too_large');
  // The bytes before and after `?`. The mark itself is counted only if something follows it.
  const bytes = request.path.length + (request.query === '' ? 0 : request.query.length + 1);
  if (bytes > targetBytesMax) return refuse(request, 'uri_too_long', `The request target is longer than ${targetBytesMax} bytes`);
  if (request.path.charCodeAt(0) !== 0x2f || !isTarget(request.path) || !isTarget(request.query)) {
    refuse(request, 'bad_request', 'The request target contains a character that is not allowed', 'target');
  }
}

function refuseMethod(request: ParsedRequest): void {
  if (!tokenPattern.test(request.method)) {
    return refuse(request, 'bad_request', 'The method contains a character that is not allowed', 'method');
  }
  request.error ??= new GatewayError('method_not_allowed', {
    message: `The method ${request.method.slice(0, 20)} is not supported. Methods are case-sensitive: ${methods.join(', ')}`,
    param: 'method',
    allow: methods,
  });
}

function isTarget(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x21 || code > 0x7e || code === 0x23 || code === 0x5c) return false;
  }
  return true;
}

function checkFraming(request: ParsedRequest): void {
  if (!reading.hasHost) return refuse(request, 'bad_request', 'The host header is missing or empty', 'host');
  if (reading.chunked) {
    request.bodyLength = -1;
    if (reading.length !== -1) {
      refuse(request, 'bad_request', 'The request has both content-length and transfer-encoding', 'transfer-encoding');
    }
    return;
  }
  if (reading.length !== -1) {
    request.bodyLength = reading.length;
    return;
  }
  // Without both headers there is no body, for any method (RFC 9112 section 6.3).
  request.hasLength = request.method !== 'POST' && request.method !== 'PUT' && request.method !== 'PATCH';
}

/** Rejects the request. The first error is the one reported. */
function refuse(request: ParsedRequest, code: ErrorCode, message?: string, param?: string): void {
  request.error ??= new GatewayError(code, { ...(message ? { message } : {}), ...(param ? { param } : {}) });
}
