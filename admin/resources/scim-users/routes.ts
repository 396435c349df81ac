import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import type { AdminCall } from '../../http/admin-call.ts';
import { namesRevision } from '../../http/request/read-call.ts';
import type { AdminRoute } from '../../http/route.ts';
import { attributesQuery, baseOf, defineScimRoute } from '../../scim/define-scim-route.ts';
import { listQuery, searchBody } from '../../scim/list-query.ts';
import { patchBody, patchSteps } from '../../scim/patch.ts';
import { emptyReply, scimReply, versionOf } from '../../scim/reply.ts';
import { selectAttributes } from '../../scim/select-attributes.ts';
import { userSchema } from '../../scim/urns.ts';
import type { User } from '../users/entity.ts';
import { applyPatch } from './apply-patch.ts';
import { type DirectoryUser, directoryUser } from './attributes.ts';
import { listDirectoryUsers } from './list-users.ts';
import {
  createDirectoryUser,
  deleteDirectoryUser,
  findDirectoryUser,
  isUnchanged,
  readAttributes,
  updateDirectoryUser,
} from './service.ts';
import { toDirectoryUser, toUserResources } from './to-resource.ts';
import { groupsOfUser, replaceGroups, sentGroups, writesGroups } from './user-groups.ts';

const ofUsers = { resource: 'users' } as const;
const item = '/Users/:userId';

/** SCIM routes of users. */
export const scimUserRoutes: readonly AdminRoute[] = [
  defineScimRoute({
    ...ofUsers,
    method: 'GET',
    path: '/Users',
    action: 'list',
    summary: 'List the users of the organisation',
    query: listQuery,
    body: null,
    handle: (call) => listDirectoryUsers(call.em, call.organisationId, call.query, baseOf(call)),
  }),
  defineScimRoute({
    ...ofUsers,
    method: 'POST',
    path: '/Users/.search',
    runsAgain: true,
    action: 'list',
    summary: 'List users with the query in the body',
    query: v.object({}),
    body: searchBody,
    done: [200],
    handle: (call) => listDirectoryUsers(call.em, call.organisationId, call.body, baseOf(call)),
  }),
  defineScimRoute({
    ...ofUsers,
    method: 'POST',
    path: '/Users',
    action: 'create',
    summary: 'Provision a user',
    query: attributesQuery,
    body: directoryUser,
    async handle(call) {
      const groups = (await writesGroups(call.em, call.organisationId)) ? sentGroups(call.body) : undefined;
      const row = await call.write(async (change) => {
        const made = await createDirectoryUser(change, call.organisationId, call.body, makingOf(call));
        if (groups) await replaceGroups(change, made, groups, makingOf(call));
        change.replies(201);
        return made;
      });
      return replyOf(call, row, 201);
    },
  }),
  defineScimRoute({
    ...ofUsers,
    method: 'GET',
    path: item,
    action: 'read',
    summary: 'Read a user',
    query: attributesQuery,
    body: null,
    async handle(call) {
      const row = await findDirectoryUser(call.em, call.organisationId, call.params.userId ?? '');
      if (namesRevision(call.ifNoneMatch, row.revision)) return emptyReply({ etag: versionOf(row.revision) }, 304);
      return replyOf(call, row, 200);
    },
  }),
  defineScimRoute({
    ...ofUsers,
    method: 'PUT',
    path: item,
    action: 'update',
    summary: 'Replace the attributes of a user',
    query: attributesQuery,
    body: directoryUser,
    handle: (call) => update(call, () => call.body),
  }),
  defineScimRoute({
    ...ofUsers,
    method: 'PATCH',
    path: item,
    action: 'update',
    summary: 'Change attributes of a user; active false ends all access',
    query: attributesQuery,
    body: patchBody,
    async handle(call) {
      const steps = patchSteps(call.body, userSchema);
      return update(call, (row, groups) => {
        const known = groups ? { groups: groups.map((value) => ({ value })) } : {};
        return readAttributes(applyPatch({ ...toDirectoryUser(row), ...known }, steps));
      });
    },
  }),
  defineScimRoute({
    ...ofUsers,
    method: 'DELETE',
    path: item,
    action: 'delete',
    summary: 'Remove a user; their API keys and sessions end',
    query: attributesQuery,
    body: null,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findDirectoryUser(change.tx, call.organisationId, call.params.userId ?? '');
        call.match(row);
        await deleteDirectoryUser(change, row, call.services.dependents);
        change.replies(204);
      });
      return emptyReply();
    },
  }),
];

type Call = AdminCall<{ attributes?: string | undefined; excludedAttributes?: string | undefined }, unknown>;

/**
 * Writes only if an attribute changes: directories repeat whole resources at every sync. `attributesOf` gets the groups of the user if
 * directories write them with users, else null.
 */
async function update(call: Call, attributesOf: (row: User, groups: readonly string[] | null) => DirectoryUser) {
  const hasGroups = await writesGroups(call.em, call.organisationId);
  const read = async (em: Call['em']) => {
    const row = await findDirectoryUser(em, call.organisationId, call.params.userId ?? '');
    call.match(row);
    const groups = hasGroups ? await groupsOfUser(em, row) : null;
    const sent = attributesOf(row, groups);
    return { row, sent, groups, wanted: groups ? (sentGroups(sent) ?? groups) : null };
  };
  const { row: current, sent: asked, groups, wanted: askedGroups } = await read(call.em);
  if (isUnchanged(current, asked) && isDeepStrictEqual(groups, askedGroups)) return replyOf(call, current, 200);
  const row = await call.write(async (change) => {
    const { row: held, sent, wanted } = await read(change.tx);
    await updateDirectoryUser(change, held, sent, makingOf(call), call.services.dependents);
    if (wanted) await replaceGroups(change, held, wanted, makingOf(call));
    return held;
  });
  return replyOf(call, row, 200);
}

async function replyOf(call: Call, row: User, status: 200 | 201) {
  const base = baseOf(call);
  const [resource = {}] = await toUserResources(call.em, [row], base);
  const headers = { etag: versionOf(row.revision), ...(status === 201 ? { location: `${base}/Users/${row.id}` } : {}) };
  return scimReply(selectAttributes(resource, call.query, userSchema), { status, headers });
}

function makingOf({ services }: Pick<Call, 'services'>) {
  return { apiKeyPepper: services.apiKeyPepper, now: services.clock.now() };
}
