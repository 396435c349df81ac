import type { Context } from 'hono';
import { countryHeader, vouchHeader } from '../../core/contract/values/addresses/client-origin.ts';

/** Reply of a route of the API. */
export interface ApiReply {
  readonly ok: boolean;
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of the routes describe replies
  readonly body: any;
  /** Text for the user if the route refused the request; null otherwise. */
  readonly message: string | null;
  readonly cookies: readonly string[];
}

/** Calls a route of the API in this process on behalf of the browser. */
export type CallApi = (c: Context, method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<ApiReply>;

/** Headers that identify the browser, its session and its origin. */
const passedOn = [
  ...['cookie', 'user-agent', 'origin', 'sec-fetch-site', 'host', 'x-forwarded-for', 'x-forwarded-host', 'forwarded'],
  ...[vouchHeader, countryHeader],
];

/**
 * The pages have no rules of their own: they call the routes of the API, which authenticate, validate, limit and audit. `serve` is the
 * service itself.
 */
export function createCallApi(serve: (request: Request, env: unknown) => Response | Promise<Response>): CallApi {
  return async (c, method, path, body) => {
    const headers = new Headers();
    for (const name of passedOn) {
      const value = c.req.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    if (body !== undefined) headers.set('content-type', 'application/json');
    const url = new URL(`/v1${path}`, c.req.url);
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const reply = await serve(new Request(url, init), c.env);
    const found = (await reply.json()) as { readonly data?: { readonly message?: string } };
    return {
      ok: reply.ok,
      status: reply.status,
      body: found,
      message: reply.ok ? null : (found.data?.message ?? 'The service could not process this form. Try again'),
      cookies: reply.headers.getSetCookie(),
    };
  };
}
