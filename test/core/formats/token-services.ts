import { createTokenCaches } from '../../../core/cloud-auth/token-cache.ts';
import type { SignServices, TokenRequest } from '../../../core/contract/provider/sign-services.ts';

/** A token endpoint that stores its requests and sends scripted replies. It repeats the last one. */
export interface FakeTokenEndpoint extends SignServices {
  readonly requests: TokenRequest[];
  /** Form fields of one request. */
  form(index: number): Record<string, string>;
  clockMs: number;
  replies: { status: number; body: unknown }[];
}

export function fakeTokenEndpoint(options: { machineIdentity?: boolean } = {}): FakeTokenEndpoint {
  const endpoint: FakeTokenEndpoint = {
    requests: [],
    tokens: createTokenCaches(),
    clockMs: 1_760_000_000_000,
    replies: [],
    machineIdentity: options.machineIdentity ?? false,
    now: () => endpoint.clockMs,
    form: (index) => Object.fromEntries(new URLSearchParams(endpoint.requests[index]?.body ?? '')),
    async fetch(request) {
      endpoint.requests.push(request);
      const given = { status: 200, body: { access_token: `token-${endpoint.requests.length}`, expires_in: 3600 } };
      const reply = (endpoint.replies.length > 1 ? endpoint.replies.shift() : endpoint.replies[0]) ?? given;
      const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body);
      return { status: reply.status, headers: ['content-type', 'application/json'], body: Buffer.from(text) };
    },
  };
  return endpoint;
}

/** Services of a call that needs no token: a request for one fails the test. */
export const noTokens: SignServices = {
  tokens: createTokenCaches(),
  fetch: () => Promise.reject(new Error('a token was requested')),
  now: () => 0,
};
