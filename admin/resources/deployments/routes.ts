import { findWorkspace } from '../../access/resolve-workspace.ts';
import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { withTags } from '../../http/filters/with-tags.ts';
import { emptyReply } from '../../http/reply/reply-schemas.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { deployments } from './entity.ts';
import { instancesOf, limitsOf } from './instances.ts';
import {
  createBody,
  createReply,
  listQuery,
  listReply,
  organisationQuery,
  pingReply,
  readQuery,
  readReply,
  updateBody,
} from './schema.ts';
import { archiveDeployment, createDeployment, findDeployment, updateDeployment } from './service.ts';
import { toDetail, toPing, toRow } from './to-reply.ts';

const shared = { tenant: 'organisation', resource: 'deployments', query: organisationQuery, body: null } as const;
const item = '/deployments/:deploymentId';

/** Routes of deployments: gateways of this service under the names that their settings give them. */
export const deploymentRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/deployments',
    summary: 'List deployments of gateways, newest first',
    scopes: ['deployments.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, organisationId, query, services }) {
      const { status, type, search, workspace_slug: workspace } = query;
      // Each deployment serves all workspaces, so the filter only checks that there is one of this name.
      if (workspace !== undefined) await findWorkspace(em, organisationId, workspace);
      const where = [
        { organisationId, isArchived: status === 'archived', ...(type === undefined ? {} : { type }) },
        searchIn(search, 'name', 'slug'),
        withTags(query.tags),
      ];
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, deployments, { $and: where }, page);
      const { staleAt, removedAt } = limitsOf(services);
      const ids = rows.map(({ id }) => id);
      const ofDeployment = await instancesOf(em, ids, removedAt);
      return { object: 'list', total, data: rows.map((row) => toRow(row, ofDeployment(row.id), staleAt)) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/deployments',
    summary: 'Create a deployment; gateways join it with DEPLOYMENT_NAME',
    scopes: ['deployments.create'],
    action: 'create',
    body: createBody,
    reply: createReply,
    async handle(call) {
      const row = await call.write((change) => createDeployment(change, call.actor, call.body));
      call.tag(row.revision);
      const { id, slug, organisationId: organisation_id } = row;
      return { id, slug, organisation_id, client_auth: null, credentials: null, object: 'deployment' };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: item,
    summary: 'Read a deployment with its gateways',
    scopes: ['deployments.read'],
    action: 'read',
    query: readQuery,
    reply: readReply,
    async handle(call) {
      const row = await findDeployment(call.em, call.organisationId, call.params.deploymentId ?? '');
      const { staleAt, removedAt } = limitsOf(call.services);
      const ofDeployment = await instancesOf(call.em, [row.id], removedAt);
      call.tag(row.revision);
      return toDetail(row, ofDeployment(row.id), staleAt);
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: item,
    summary: 'Change name, tags, type or status of a deployment',
    scopes: ['deployments.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findDeployment(change.tx, call.organisationId, call.params.deploymentId ?? '');
        call.match(found);
        await updateDeployment(change, found, call.body);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: item,
    summary: 'Archive a deployment and remove its gateways',
    scopes: ['deployments.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findDeployment(change.tx, call.organisationId, call.params.deploymentId ?? '');
        call.match(row);
        await archiveDeployment(change, row);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${item}/ping`,
    summary: 'Check whether gateways of a deployment report',
    scopes: ['deployments.read'],
    action: 'ping',
    reply: pingReply,
    async handle({ em, organisationId, params, services }) {
      const row = await findDeployment(em, organisationId, params.deploymentId ?? '');
      const { staleAt, removedAt } = limitsOf(services);
      const ofDeployment = await instancesOf(em, [row.id], removedAt);
      return toPing(ofDeployment(row.id), staleAt);
    },
  }),
];
