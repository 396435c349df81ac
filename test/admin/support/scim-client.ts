import type { Plane, Tenant } from './plane.ts';

interface ScimReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of replies; the assertions are the check
  readonly body: any;
}

/** Sends a request below `/scim/{organisationId}` with the token of a directory. */
export type ScimAsk = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<ScimReply>;

/** Creates a SCIM token of the organisation and returns a client with it. */
export async function scimClient(plane: Plane, tenant: Pick<Tenant, 'organisationId' | 'adminKey'> = plane): Promise<ScimAsk> {
  const made = await plane.ask('POST', '/scim/tokens', { key: tenant.adminKey, body: { name: 'directory' } });
  if (made.status !== 200) throw new Error(`no SCIM token: ${JSON.stringify(made.body)}`);
  return scimClientWith(plane, tenant.organisationId, made.body.token);
}

export function scimClientWith(plane: Plane, organisationId: string, token: string): ScimAsk {
  return async (method, path, body, headers = {}) => {
    const reply = await fetch(`${plane.url}/v1/scim/${organisationId}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, body: text === '' ? null : JSON.parse(text) };
  };
}

/** A PATCH body. */
export function patch(...operations: readonly object[]): object {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations };
}
