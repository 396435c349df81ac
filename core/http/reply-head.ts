import type { HttpResponse } from 'uWebSockets.js';
import { isHopByHop } from '../contract/values/http/connection-headers.ts';
import type { HeaderList } from '../contract/values/http/http.ts';

/** Not imported: an import of `node:http` reads its property `WebSocket`, for which Node loads its own copy of undici. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Headers that the addon writes itself. */
const ownHeaders: ReadonlySet<string> = new Set(['content-length', 'date', 'uwebsockets']);

/** Bytes that the addon adds (Date, its name, the framing header and the blank line), rounded up. */
const addedBytes = 200;
/** Maximum bytes of headers in one cork, see the write rule in write-reply.ts. */
const corkBytesMax = 12_000;

/** A status line and headers, checked and ready to be written. */
export interface ReplyHead {
  readonly status: string;
  /** Flat list. A value with bytes above 0x7f is held as bytes, because the addon would write text as UTF-8. */
  readonly headers: (string | Buffer)[];
  /** Upper bound of its bytes on the wire. */
  bytes: number;
}

/**
 * Prepares a head. Removes framing and connection headers (the edge frames the reply itself) and every header whose name is not a
 * token or whose value has a control character, so that a provider's response cannot inject a header.
 */
export function prepareHead(status: number, headers: HeaderList, more: HeaderList | null): ReplyHead {
  const head: ReplyHead = { status: statusLine(status), headers: [], bytes: addedBytes };
  addAll(head, headers);
  if (more !== null) addAll(head, more);
  return head;
}

/** Like `prepareHead`, for a 101, which must fit one cork. Leaves out headers that would exceed `bytesMax`. */
export function prepareUpgradeHead(headers: HeaderList, more: HeaderList | null, bytesMax: number): ReplyHead {
  const whole = prepareHead(200, more ?? [], headers);
  const head: ReplyHead = { status: '101 Switching Protocols', headers: [], bytes: addedBytes };
  for (let i = 0; i < whole.headers.length; i += 2) {
    const name = whole.headers[i] as string;
    const value = whole.headers[i + 1] as string | Buffer;
    const bytes = name.length + value.length + 4;
    if (name.startsWith('sec-websocket-') || head.bytes + bytes > bytesMax) continue;
    head.headers.push(name, value);
    head.bytes += bytes;
  }
  return head;
}

/** Adds a header that the edge itself writes. The header is not checked. */
export function addToHead(head: ReplyHead, name: string, value: string): void {
  head.headers.push(name, value);
  head.bytes += name.length + value.length + 4;
}

/** Writes the status line and the headers. Call inside a cork. */
export function writeHead(res: HttpResponse, head: ReplyHead): void {
  res.writeStatus(head.status);
  const { headers } = head;
  for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i] as string, headers[i + 1] as string | Buffer);
}

/**
 * Writes a head that is too large for one cork: a few headers per cork. A header too long for a cork is written without one,
 * which costs more system calls (and a warning of the addon on stderr) but loses nothing. Returns true.
 */
export function writeLargeHead(res: HttpResponse, head: ReplyHead): true {
  const { headers } = head;
  let at = 0;
  res.cork(() => res.writeStatus(head.status));
  while (at < headers.length) {
    const from = at;
    let bytes = 0;
    while (at < headers.length) {
      const size = (headers[at] as string).length + (headers[at + 1] as string | Buffer).length + 4;
      if (bytes + size > corkBytesMax) break;
      bytes += size;
      at += 2;
    }
    if (at === from) {
      res.writeHeader(headers[at] as string, headers[at + 1] as string | Buffer);
      at += 2;
      continue;
    }
    res.cork(() => {
      for (let i = from; i < at; i += 2) res.writeHeader(headers[i] as string, headers[i + 1] as string | Buffer);
    });
  }
  return true;
}

function addAll(head: ReplyHead, headers: HeaderList): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name: unknown = headers[i];
    const text: unknown = headers[i + 1];
    // The list may come from code that is not type-checked. An exception here would end the process.
    if (typeof name !== 'string' || typeof text !== 'string') continue;
    if (isHopByHop(name) || ownHeaders.has(name) || !isKnownToken(name)) continue;
    const value = wireValue(text);
    if (value === null) continue;
    head.headers.push(name, value);
    head.bytes += name.length + value.length + 4;
  }
}

/** Returns the value in the form the addon needs, or null if it must not be sent. */
function wireValue(value: string): string | Buffer | null {
  let ascii = true;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return null;
    if (code <= 0x7e) continue;
    ascii = false;
    // The text is not latin1. Truncating its characters to bytes could produce a line end.
    if (code > 0xff) return Buffer.from(value, 'utf8');
  }
  return ascii ? value : Buffer.from(value, 'latin1');
}

/** Header names that were checked, because most replies have the same few names. */
const tokens = new Set<string>();
const tokensMax = 1000;

function isKnownToken(name: string): boolean {
  if (tokens.has(name)) return true;
  if (!isToken(name)) return false;
  if (tokens.size < tokensMax && name.length < 64) tokens.add(name);
  return true;
}

function isToken(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if ((code >= 0x61 && code <= 0x7a) || code === 0x2d || (code >= 0x30 && code <= 0x39)) continue;
    if (code <= 0x20 || code >= 0x7f || '"(),/:;<=>?@[\\]{}'.includes(name[i] as string)) return false;
  }
  return name !== '';
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  const known = statusLines.get(status);
  if (known !== undefined) return known;
  if (!Number.isInteger(status) || status < 200 || status > 999) return statusLine(500);
  const line = `${status} ${ownStatusTexts[status] ?? STATUS_CODES[status] ?? 'Unknown'}`;
  statusLines.set(status, line);
  return line;
}

/** Guardrail statuses: 246 passes the reply, 446 rejects it. */
const ownStatusTexts: Record<number, string> = { 246: 'Hooks failed', 446: 'Hooks failed', 499: 'Client Closed Request' };
