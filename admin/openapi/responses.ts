import { adminErrorTable } from '../http/errors.ts';
import type { ReplyProtocol } from '../http/route.ts';
import type { JsonSchema } from './to-json-schema.ts';

/** The parts of a control-plane route that determine its replies. */
export interface Replying {
  readonly method: string;
  /** True for routes that need no key. */
  readonly isPublic: boolean;
  readonly hasBody: boolean;
  /** True if a request with an `idempotency-key` is executed once. */
  readonly runsOnce: boolean;
  /** True if `if-match` is compared with the version of the item. */
  readonly hasVersion: boolean;
}

/** Body of every refusal of the control plane. */
export const adminErrorSchema: JsonSchema = {
  type: 'object',
  required: ['success', 'data'],
  properties: {
    success: { const: false },
    data: {
      type: 'object',
      required: ['message', 'errorCode'],
      properties: {
        message: { type: 'string' },
        errorCode: {
          type: 'string',
          enum: Object.keys(adminErrorTable),
          description: Object.entries(adminErrorTable)
            .map(([code, { status, meaning }]) => `\`${code}\` (${status}): ${meaning}.`)
            .join(' '),
        },
        errors: { type: 'array', items: { type: 'string' }, description: 'One `path: message` per issue' },
      },
    },
  },
};

const always = (): boolean => true;

/** Refusals of the control plane by their names in `components.responses`: status, meaning, and the routes that send them. */
const failures: Readonly<Record<string, readonly [status: number, text: string, sends: (route: Replying) => boolean]>> = {
  Invalid: [400, 'The request is malformed, a field is not valid, or the body is not JSON (AB01)', always],
  Unauthorised: [401, 'The key or session is missing, unknown, expired or revoked (AB05)', always],
  Forbidden: [403, 'The API key or user lacks the permission for this request (AB03)', ({ isPublic }) => !isPublic],
  NotFound: [
    404,
    'The item does not exist in this organisation (AB08), or the body refers to one that does not exist (AB02)',
    always,
  ],
  MethodNotAllowed: [405, 'The path has no such method; `allow` lists its methods (AB01)', always],
  Conflict: [409, 'The name or slug is taken, other items depend on it, or it was changed in the meantime (AB07)', changes],
  Changed: [412, '`if-match` does not match the current version (AB12)', ({ hasVersion }) => hasVersion],
  BodyTooLarge: [413, 'The body is larger than 1 MiB (AB01)', ({ hasBody, method }) => hasBody || method !== 'GET'],
  TargetTooLong: [414, 'The path and query are longer than 8,192 bytes (AB01)', always],
  KeyReused: [422, 'The `idempotency-key` was used for another request (AB01)', ({ runsOnce }) => runsOnce],
  TooMany: [429, 'Too many requests; `retry-after` is the time to wait in seconds (AB06)', always],
  HeadersTooLarge: [431, 'The header block is too large or has more than 98 headers (AB01)', always],
  Internal: [500, 'Something went wrong (AB04)', always],
  Unavailable: [
    503,
    'The database or the control plane cannot be reached or did not reply in time; nothing was written, except that `/otel` and `/logs` may have stored what they received, and that the database may have stored a change if it failed during the commit (AB10)',
    always,
  ],
};

function changes({ method }: Pick<Replying, 'method'>): boolean {
  return method !== 'GET';
}

const text = (description: string): JsonSchema => ({ schema: { type: 'string' }, description });
const retryAfter = { 'retry-after': { schema: { type: 'integer', minimum: 1 }, description: 'Seconds to wait' } };
const requestId = { 'x-request-id': text('Names the request in the log and in the audit trail') };

/** `components.responses`. */
export function failureResponses(): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(failures).map(([name, [status, description]]) => [name, failureOf(status, description)]),
  );
}

const oauthErrorSchema: JsonSchema = {
  type: 'object',
  required: ['error', 'error_description'],
  properties: { error: { type: 'string' }, error_description: { type: 'string' } },
};

const oauthFailure = (description: string): JsonSchema => ({
  description,
  content: { 'application/json': { schema: { anyOf: [{ $ref: '#/components/schemas/Error' }, oauthErrorSchema] } } },
});

const page = { schema: { type: 'string' } };

const redirects: Readonly<Record<string, JsonSchema>> = {
  302: { description: 'Redirect of the browser to another service' },
  303: { description: 'Redirect of the browser within this service' },
};

/** Replies of OAuth routes by status, in addition to those of all routes and in place of them. */
export const oauthReplies: Readonly<Record<string, JsonSchema>> = {
  201: { description: 'The client is registered', content: { 'application/json': { schema: { type: 'object' } } } },
  302: { description: 'Redirect of the browser to the client' },
  303: { description: 'Redirect of the browser to the page for signing in' },
  400: oauthFailure('The request, the client, the code or the token is not valid'),
  401: oauthFailure('The session has ended'),
  403: oauthFailure('The decision does not come from a page of the service, or the user has no access'),
  413: oauthFailure('The body is too large'),
  429: oauthFailure('Too many registrations; `retry-after` is the time to wait in seconds'),
  500: oauthFailure('Something went wrong'),
  503: oauthFailure('Too many unused clients, or the database cannot be reached'),
};

/** Returns the errors that a route can send, by status. */
export function failuresOf(route: Replying): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(failures)
      .filter(([, [, , sends]]) => sends(route))
      .map(([name, [status]]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

/** Statuses of errors that routes for browsers send as pages. */
const pageStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 413, 429, 500, 502, 503]);

/** Returns the replies of a route for browsers: redirects, and errors as pages or as JSON. */
export function browserRepliesOf(route: Replying, described: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const own = Object.values(failures).filter(([status, , sends]) => pageStatuses.has(status) && sends(route));
  const all = { ...Object.fromEntries(own.map(([status, text]) => [status, failureOf(status, text)])), ...described };
  const pages = Object.entries(all).filter(([status]) => pageStatuses.has(Number(status)));
  return {
    ...redirects,
    ...described,
    ...Object.fromEntries(
      pages.map(([status, reply]) => [status, { ...reply, content: { ...(reply.content as JsonSchema), 'text/html': page } }]),
    ),
  };
}

/** Returns references to the errors with these statuses. */
export function failureRefs(statuses: readonly number[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(failures)
      .filter(([, [status]]) => statuses.includes(status))
      .map(([name, [status]]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

/** Returns the errors with these statuses, as pages or as JSON. */
export function pageFailures(statuses: readonly number[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.values(failures)
      .filter(([status]) => statuses.includes(status))
      .map(([status, description]) => {
        const { content, ...rest } = failureOf(status, description);
        return [status, { ...rest, content: { ...(content as JsonSchema), 'text/html': page } }];
      }),
  );
}

/**
 * Like `failuresOf`, for a protocol with errors of its own. Errors outside of its routes, such as 405, have the common body. The body
 * of the protocol is first, because some generated clients decode the first one alone.
 */
export function protocolFailuresOf(
  route: Replying,
  protocol: Pick<ReplyProtocol, 'mediaType' | 'errorSchema'>,
): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.values(failures)
      .filter(([, , sends]) => sends(route))
      .map(([status, description]) => {
        const { content, ...rest } = failureOf(status, description);
        return [
          status,
          { ...rest, content: { [protocol.mediaType]: { schema: protocol.errorSchema }, ...(content as JsonSchema) } },
        ];
      }),
  );
}

function failureOf(status: number, description: string): JsonSchema {
  const more: JsonSchema =
    status === 405 ? { allow: text('The methods of the path') } : status === 429 || status === 503 ? retryAfter : {};
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  return { description, headers: { ...requestId, ...more }, content };
}

/** Headers of a 200. */
export function replyHeaders({ method, runsOnce, isPublic }: Replying, headerPrefix: string): Record<string, JsonSchema> {
  return {
    ...requestId,
    ...(isPublic ? {} : { etag: text('Version of the item, for `if-match`') }),
    ...(!runsOnce
      ? {}
      : { 'idempotency-replayed': text('`true` if the reply is that of an earlier request with this `idempotency-key`') }),
    ...(isPublic || method === 'GET'
      ? {}
      : { [`${headerPrefix}unused-settings`]: text('Settings of the body that are stored and have no effect in this version') }),
  };
}
