import { notFound } from '../../http/errors.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { tenantQuery } from '../../http/schemas.ts';
import { organisations } from './entity.ts';

/** The caller's organisation, as far as this build has it (control-plane reference §4). */
export const organisationRoutes: readonly AdminRoute[] = [
  defineRoute({
    method: 'GET',
    path: '/organisations/self',
    scopes: ['organisation_settings.read'],
    tenant: 'organisation',
    resource: 'organisations',
    action: 'read',
    query: tenantQuery,
    body: null,
    async handle(call) {
      const row = await call.em.findOne(organisations, { id: call.organisationId });
      if (!row) throw notFound('Organisation');
      const times = { created_at: row.createdAt.toISOString(), last_updated_at: row.lastUpdatedAt.toISOString() };
      return { success: true, data: { id: row.id, name: row.name, ...times, object: 'organisation' } };
    },
  }),
];
