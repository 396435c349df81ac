import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isObject } from '../../../core/contract/values/json.ts';

/** Reply of a gateway to one line. */
export interface LineReply {
  readonly status: number;
  readonly requestId: string;
  readonly retryAfterMs: number | null;
  readonly body: unknown;
}

const replyBytesMax = 64 * 1024 * 1024;

/**
 * Sends one line. Rejects if the reply is incomplete. It is then unknown whether the line was processed, and the line may be sent
 * again.
 */
export function sendLine(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<LineReply> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const bytes = Buffer.from(body);
    const call = send(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-length': bytes.length },
      signal,
    });
    call.on('error', reject);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > replyBytesMax) call.destroy(new Error('the reply is too large'));
        chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('close', () => reject(new Error('the reply was cut short')));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { 'x-request-id': requestId = '', 'retry-after': retryAfter } = response.headers;
        resolve({
          status: response.statusCode ?? 0,
          requestId: String(requestId),
          retryAfterMs: retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : null,
          body: parsed(text),
        });
      });
    });
    call.end(bytes);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Tokens of a reply in any of the formats of the data plane. */
export function tokensOf(body: unknown): { readonly input: number; readonly output: number } {
  const usage = isObject(body) && isObject(body.usage) ? body.usage : {};
  const count = (...names: string[]): number => {
    for (const name of names) {
      const value = usage[name];
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 2 ** 31) return value;
    }
    return 0;
  };
  return { input: count('prompt_tokens', 'input_tokens'), output: count('completion_tokens', 'output_tokens') };
}
