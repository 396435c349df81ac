import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Sends a whole JSON reply with its length. */
export function sendJson(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  const bytes = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

/** Sends an event stream in which every text is a write of its own. Stops when the client has disconnected. */
export async function sendEvents(
  response: ServerResponse,
  texts: Iterable<string>,
  headers: Record<string, string> = {},
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...headers });
  for (const text of texts) {
    if (response.destroyed) return;
    response.write(text);
    await nextTurn();
  }
  response.end();
}

/** `data: {…}` */
export function dataEvent(value: unknown): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}

/** `event: <type>` and its data, the type taken from the value. */
export function namedEvent(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** Cuts a text into pieces like those of a model: words with the space before them. */
export function toPieces(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

/** Counts words instead of tokens, so that counts are predictable. */
export function countWords(value: unknown): number {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? '');
  return text.split(/\s+/).filter(Boolean).length;
}
