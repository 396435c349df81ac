import { notFound } from '../../http/errors.ts';
import type { AdminRoute } from '../../http/route.ts';
import { attributesQuery, baseOf, defineScimRoute } from '../../scim/define-scim-route.ts';
import { listReply, scimReply } from '../../scim/reply.ts';
import { resourceTypeDocuments, schemaDocuments, serviceProviderConfig } from '../../scim/schemas.ts';

const shared = { method: 'GET', resource: 'scim', action: 'read', query: attributesQuery, body: null } as const;

/** Lists documents, and reads one by its id. */
function documentRoutes(path: string, summary: string, documents: (base: string) => { readonly id: string }[]): AdminRoute[] {
  return [
    defineScimRoute({
      ...shared,
      path,
      summary: `List ${summary}`,
      async handle(call) {
        const all = documents(baseOf(call));
        return listReply(all, all.length, 1);
      },
    }),
    defineScimRoute({
      ...shared,
      path: `${path}/:documentId`,
      summary: `Read one of ${summary}`,
      async handle(call) {
        const id = call.params.documentId?.toLowerCase();
        const found = documents(baseOf(call)).find((one) => one.id.toLowerCase() === id);
        if (!found) throw notFound('Document');
        return scimReply(found);
      },
    }),
  ];
}

/** Routes that describe the service (RFC 7644 §4). */
export const discoveryRoutes: readonly AdminRoute[] = [
  defineScimRoute({
    ...shared,
    path: '/ServiceProviderConfig',
    summary: 'Read what the SCIM service supports',
    handle: async (call) => scimReply(serviceProviderConfig(baseOf(call))),
  }),
  ...documentRoutes('/ResourceTypes', 'the types of SCIM resources', resourceTypeDocuments),
  ...documentRoutes('/Schemas', 'the schemas of SCIM resources', schemaDocuments),
];
