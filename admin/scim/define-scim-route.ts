import * as v from 'valibot';
import type { AdminCall } from '../http/admin-call.ts';
import { AccessRefusal } from '../http/errors.ts';
import type { RawReply } from '../http/reply/raw-reply.ts';
import { type AdminRoute, defineRoute } from '../http/route.ts';
import { mediaType } from './reply.ts';
import { errorSchema, scimErrorReply } from './scim-error.ts';
import { scimScope } from './scope.ts';

/** Statuses of success by method. A PATCH of a group has no body. */
const done = { GET: [200, 304], POST: [201], PUT: [200], PATCH: [200, 204], DELETE: [204] } as const;

/** Names of attributes. Clients with an empty list send an empty text, which selects nothing by itself, as if it were absent. */
const names = v.optional(
  v.pipe(
    v.string(),
    v.maxLength(2_048, 'at most 2,048 characters'),
    v.transform((text) => (text.trim() === '' ? undefined : text)),
  ),
);

/** Members of a query that every SCIM route accepts. Unknown ones are ignored. */
export const attributesQuery = v.object({ attributes: names, excludedAttributes: names });

/** A route below `/scim/{organisationId}` with the errors of RFC 7644. Only the organisation of the token exists. */
export function defineScimRoute<Query extends v.GenericSchema, Body extends v.GenericSchema | null>(
  route: Pick<AdminRoute, 'method' | 'resource' | 'action' | 'summary'> & {
    readonly path: string;
    readonly runsAgain?: true;
    readonly query: Query;
    readonly body: Body;
    /** Statuses of success, if they differ from those of the method. */
    readonly done?: readonly number[];
    handle(
      call: AdminCall<v.InferOutput<Query>, Body extends v.GenericSchema ? v.InferOutput<Body> : undefined>,
    ): Promise<RawReply>;
  },
): AdminRoute {
  const { done: statuses = done[route.method], ...rest } = route;
  return defineRoute<Query, Body>({
    ...rest,
    path: `/scim/:organisationId${route.path}`,
    tenant: 'organisation',
    scopes: [scimScope],
    protocol: { mediaType, errorSchema, errorReply: scimErrorReply, done: statuses },
    reply: v.looseObject({}),
    async handle(call) {
      if (call.params.organisationId?.toLowerCase() !== call.organisationId) {
        throw new AccessRefusal('AB08', 'other_organisation', 'The SCIM token does not belong to the organisation of this URL');
      }
      return route.handle(call);
    },
  });
}

type Addressed = Pick<AdminCall<unknown, unknown>, 'organisationId'> & {
  readonly services: { readonly settings: { readonly publicUrl: string } };
};

/** The URL of `/scim/{organisationId}`, for `location` and `$ref`. */
export function baseOf({ organisationId, services }: Addressed): string {
  return `${services.settings.publicUrl}/v1/scim/${organisationId}`;
}
