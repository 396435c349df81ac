import * as v from 'valibot';
import type { EntityManager } from '../../db/open-database.ts';
import { notFound } from '../../http/errors.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { readTenancy } from './effective-setting.ts';
import { type Organisation, organisations } from './entity.ts';
import {
  authSettingsBody,
  authSettingsReply,
  defaultsBody,
  defaultsReply,
  fieldRestrictionsReply,
  organisationReply,
  updateBody,
} from './schema.ts';
import { updateAuthSettings, updateDefaults, updateOrganisation } from './service.ts';
import { toAuthSettings, toOrganisation } from './to-reply.ts';
import { toSettingReply } from './to-setting-reply.ts';

const nothing = v.strictObject({});
const readScopes = ['organisation_settings.read'];
const updateScopes = ['organisation_settings.update'];
const shared = { tenant: 'organisation', resource: 'organisations', query: tenantQuery } as const;

/** Routes of the actor's organisation, its settings and defaults. */
export const organisationRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/organisations/self',
    scopes: readScopes,
    signedIn: 'suffices',
    action: 'read',
    summary: 'Read the organisation and its settings',
    reply: organisationReply,
    body: null,
    async handle(call) {
      const row = await findOrganisation(call.em, call.organisationId);
      call.tag(row.revision);
      return { success: true, data: toOrganisation(row) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/organisations/self',
    scopes: updateScopes,
    action: 'update',
    summary: 'Change settings of the organisation and which of them workspaces can override',
    reply: nothing,
    body: updateBody,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findOrganisation(change.tx, call.organisationId);
        call.match(row);
        await updateOrganisation(change, call.actor, row, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/organisations/:organisationId/auth-settings',
    scopes: readScopes,
    action: 'read',
    summary: 'Read the sign-in settings',
    reply: authSettingsReply,
    body: null,
    async handle(call) {
      requireOwn(call);
      const row = await findOrganisation(call.em, call.organisationId);
      call.tag(row.revision);
      return { success: true, data: toAuthSettings(row) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/organisations/:organisationId/auth-settings',
    scopes: updateScopes,
    action: 'update',
    summary: 'Change the sign-in settings',
    reply: nothing,
    body: authSettingsBody,
    async handle(call) {
      requireOwn(call);
      await call.write(async (change) => {
        const row = await findOrganisation(change.tx, call.organisationId);
        call.match(row);
        await updateAuthSettings(change, call.actor, row, call.body, call.services.settings);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/admin/organisation/defaults',
    scopes: readScopes,
    resource: 'organisation_defaults',
    action: 'read',
    summary: 'Read the guardrails that every workspace runs',
    reply: defaultsReply,
    body: null,
    async handle(call) {
      const row = await findOrganisation(call.em, call.organisationId);
      call.tag(row.revision);
      const { start_hooks = [], input_guardrails = [], output_guardrails = [] } = row.defaults ?? {};
      return { start_hooks, input_guardrails, output_guardrails };
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/admin/organisation/defaults',
    scopes: updateScopes,
    resource: 'organisation_defaults',
    action: 'update',
    summary: 'Change the guardrails that every workspace runs',
    reply: nothing,
    body: defaultsBody,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findOrganisation(change.tx, call.organisationId);
        call.match(row);
        await updateDefaults(change, row, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/logs/exports/field-restrictions',
    scopes: ['logs.export'],
    tenant: 'either',
    resource: 'organisations',
    action: 'read',
    summary: 'Read which fields log exports omit',
    reply: fieldRestrictionsReply,
    query: tenantQuery,
    body: null,
    async handle(call) {
      const tenancy = await readTenancy(call.em, call.organisationId, call.workspaceId);
      return toSettingReply(tenancy).export_settings;
    },
  }),
];

async function findOrganisation(em: EntityManager, id: string): Promise<Organisation> {
  const row = await em.findOne(organisations, { id });
  if (!row) throw notFound('Organisation');
  return row;
}

/** Throws as if the organisation did not exist if it is not the actor's own. */
function requireOwn(call: { readonly organisationId: string; readonly params: Readonly<Record<string, string>> }): void {
  const named = call.params.organisationId?.toLowerCase();
  if (named !== 'self' && named !== call.organisationId) throw notFound('Organisation');
}
