import * as v from 'valibot';
import type { AdminCall } from '../../http/admin-call.ts';
import { namesRevision } from '../../http/request/read-call.ts';
import type { AdminRoute } from '../../http/route.ts';
import type { Change } from '../../publish/write-change.ts';
import { attributesQuery, baseOf, defineScimRoute } from '../../scim/define-scim-route.ts';
import { listQuery, searchBody } from '../../scim/list-query.ts';
import { patchBody, patchSteps } from '../../scim/patch.ts';
import { emptyReply, scimReply, versionOf } from '../../scim/reply.ts';
import { selectAttributes } from '../../scim/select-attributes.ts';
import { groupSchema } from '../../scim/urns.ts';
import type { ScimGroup } from './entity.ts';
import { listGroups } from './list-groups.ts';
import { groupBody } from './schema.ts';
import { type Context, createGroup, deleteGroup, findGroup, holdGroup, patchGroup, replaceGroup, Unchanged } from './service.ts';
import { toGroupResources } from './to-resource.ts';

const ofGroups = { resource: 'scim_groups' } as const;
const item = '/Groups/:groupId';

/** SCIM routes of groups. */
export const scimGroupRoutes: readonly AdminRoute[] = [
  defineScimRoute({
    ...ofGroups,
    method: 'GET',
    path: '/Groups',
    action: 'list',
    summary: 'List the groups of the directory',
    query: listQuery,
    body: null,
    handle: (call) => listGroups(call.em, call.organisationId, call.query, baseOf(call)),
  }),
  defineScimRoute({
    ...ofGroups,
    method: 'POST',
    path: '/Groups/.search',
    runsAgain: true,
    action: 'list',
    summary: 'List groups with the query in the body',
    query: v.object({}),
    body: searchBody,
    done: [200],
    handle: (call) => listGroups(call.em, call.organisationId, call.body, baseOf(call)),
  }),
  defineScimRoute({
    ...ofGroups,
    method: 'POST',
    path: '/Groups',
    action: 'create',
    summary: 'Provision a group; a name such as ws-Finance-role-member gives its members a role in that workspace',
    query: attributesQuery,
    body: groupBody,
    async handle(call) {
      const row = await call.write((change) => {
        change.replies(201);
        return createGroup(change, call.body, contextOf(call));
      });
      return replyOf(call, row, 201);
    },
  }),
  defineScimRoute({
    ...ofGroups,
    method: 'GET',
    path: item,
    action: 'read',
    summary: 'Read a group',
    query: attributesQuery,
    body: null,
    async handle(call) {
      const row = await findGroup(call.em, call.organisationId, call.params.groupId ?? '');
      if (namesRevision(call.ifNoneMatch, row.revision)) return emptyReply({ etag: versionOf(row.revision) }, 304);
      return replyOf(call, row, 200);
    },
  }),
  defineScimRoute({
    ...ofGroups,
    method: 'PUT',
    path: item,
    action: 'update',
    summary: 'Replace a group',
    query: attributesQuery,
    body: groupBody,
    async handle(call) {
      const row = await change(call, (tx, held) => replaceGroup(tx, held, call.body, contextOf(call)));
      return replyOf(call, row, 200);
    },
  }),
  defineScimRoute({
    ...ofGroups,
    method: 'PATCH',
    path: item,
    action: 'update',
    summary: 'Change a group or its members; 204 unless attributes are asked for',
    query: attributesQuery,
    body: patchBody,
    async handle(call) {
      const steps = patchSteps(call.body, groupSchema);
      // A group may have thousands of members, which the directory has itself.
      const isEmpty = call.query.attributes === undefined;
      const row = await change(call, (tx, held) => {
        if (isEmpty) tx.replies(204);
        return patchGroup(tx, held, steps, contextOf(call));
      });
      return isEmpty ? emptyReply({ etag: versionOf(row.revision) }) : replyOf(call, row, 200);
    },
  }),
  defineScimRoute({
    ...ofGroups,
    method: 'DELETE',
    path: item,
    action: 'delete',
    summary: 'Remove a group; memberships that only it gave end',
    query: attributesQuery,
    body: null,
    async handle(call) {
      await call.write(async (tx) => {
        const row = await holdGroup(tx.tx, call.organisationId, call.params.groupId ?? '');
        call.match(row);
        await deleteGroup(tx, row, contextOf(call));
        tx.replies(204);
      });
      return emptyReply();
    },
  }),
];

type Call = AdminCall<{ attributes?: string | undefined; excludedAttributes?: string | undefined }, unknown>;

/** Runs a change of one group. Writes nothing if it changes nothing. */
async function change(call: Call, work: (change: Change, held: ScimGroup) => Promise<void>): Promise<ScimGroup> {
  const id = call.params.groupId ?? '';
  try {
    return await call.write(async (change) => {
      const held = await holdGroup(change.tx, call.organisationId, id);
      call.match(held);
      await work(change, held);
      return held;
    });
  } catch (error) {
    if (error instanceof Unchanged) return findGroup(call.em, call.organisationId, id);
    throw error;
  }
}

async function replyOf(call: Call, row: ScimGroup, status: 200 | 201) {
  const base = baseOf(call);
  const [resource = {}] = await toGroupResources(call.em, [row], base, call.query);
  const headers = { etag: versionOf(row.revision), ...(status === 201 ? { location: `${base}/Groups/${row.id}` } : {}) };
  return scimReply(selectAttributes(resource, call.query, groupSchema), { status, headers });
}

function contextOf({ actor, services }: Pick<Call, 'actor' | 'services'>): Context {
  const making = { apiKeyPepper: services.apiKeyPepper, now: services.clock.now() };
  return { actor, making, dependents: services.dependents };
}
