import { type AnthropicProvider, createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { openSession, RefusedHandshake, type SessionClient } from '../../support/clients/session-client.ts';
import type { SharedGateway } from '../../support/product/shared-gateway.ts';

/** The request of a client on the wire, and the head of its reply. */
export interface Exchange {
  readonly method: string;
  /** Path below `/v1`, without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
}

/** Official clients with only base URL and a workspace key, and all their exchanges. */
export interface Clients {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly aiOpenAI: OpenAIProvider;
  readonly aiAnthropic: AnthropicProvider;
  /** For routes that no official client has: JSON in both directions. Throws PlainError on an error status. */
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
  plain(method: string, path: string, body?: object): Promise<any>;
  /** Opens a WebSocket. Throws RefusedHandshake. */
  session(pathAndQuery: string): Promise<SessionClient>;
  readonly exchanges: readonly Exchange[];
}

/** Named like the field of the clients' own errors, so that tests read all errors in one way. */
class PlainError extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

export function newClients(gateway: SharedGateway, apiKey: string): Clients {
  const exchanges: Exchange[] = [];
  const recordingFetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await fetch(request);
    // A client that sends forms first tries them on a `data:` URL.
    if (!request.url.startsWith(gateway.origin)) return response;
    const path = new URL(request.url).pathname.slice('/v1'.length);
    exchanges.push({ method: request.method, path, status: response.status, headers: response.headers });
    return response;
  };
  const common = { apiKey, fetch: recordingFetch };
  return {
    openai: new OpenAI({ ...common, baseURL: gateway.baseUrl, maxRetries: 0 }),
    anthropic: new Anthropic({ ...common, baseURL: gateway.origin, maxRetries: 0 }),
    aiOpenAI: createOpenAI({ ...common, baseURL: gateway.baseUrl }),
    aiAnthropic: createAnthropic({ ...common, baseURL: gateway.baseUrl }),
    async plain(method, path, body) {
      const response = await recordingFetch(`${gateway.baseUrl}${path}`, {
        method,
        headers: { 'x-svc-api-key': apiKey, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await response.text();
      if (!response.ok) throw new PlainError(response.status, text);
      return JSON.parse(text);
    },
    async session(pathAndQuery) {
      const note = (status: number, headers: SessionClient['headers']) =>
        exchanges.push({
          method: 'GET',
          path: pathAndQuery.split('?')[0] as string,
          status,
          headers: new Headers(headers as Record<string, string>),
        });
      try {
        const opened = await openSession(`${gateway.baseUrl}${pathAndQuery}`.replace('http', 'ws'), { 'x-svc-api-key': apiKey });
        note(101, opened.headers);
        return opened;
      } catch (error) {
        if (error instanceof RefusedHandshake) note(error.status, error.headers);
        throw error;
      }
    },
    exchanges,
  };
}
