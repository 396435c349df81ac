import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { requireMemberships, requireRank } from '../../access/require-rank.ts';
import type { AdminCall } from '../../http/admin-call.ts';
import { hashingDeadlineMs } from '../../http/caller/hashing-deadline.ts';
import { AdminError, forbidden, notFound } from '../../http/errors.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { nothing } from '../../identity/schema.ts';
import { isRequired } from '../../identity/second-factor/pending.ts';
import { countRecoveryCodes, replaceRecoveryCodes } from '../../identity/second-factor/recovery-codes.ts';
import { endSessions } from '../../identity/sessions.ts';
import { users } from '../users/entity.ts';
import { workspaceMembers } from '../workspace-users/entity.ts';
import { codesReply, confirmBody, confirmReply, enrolBody, enrolReply, listReply, passwordBody } from './schema.ts';
import { beginEnrolment, confirmEnrolment, confirmedFactors, reauthenticate, removeAllFactors, removeFactor } from './service.ts';

/** Options common to the routes of users for their own second factors. */
const ofOneself = {
  scopes: [],
  signedIn: 'required',
  tenant: 'organisation',
  resource: 'second_factors',
  query: tenantQuery,
} as const;

/** Routes of users for their second factors, and of admins for users who lost theirs. */
export const secondFactorRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...ofOneself,
    method: 'GET',
    path: '/auth/second-factors',
    action: 'list',
    summary: 'List your second factors',
    reply: listReply,
    body: null,
    async handle({ em, organisationId, actor }) {
      const user = { id: userIdOf(actor), organisationId };
      const rows = await confirmedFactors(em, user);
      const data = rows.map(({ id, kind, name, createdAt, lastUsedAt }) => ({
        id,
        kind,
        name,
        created_at: createdAt.toISOString(),
        last_used_at: lastUsedAt?.toISOString() ?? null,
        object: 'second_factor',
      }));
      const recovery_codes_left = await countRecoveryCodes(em, user);
      return {
        object: 'list',
        total: data.length,
        data,
        recovery_codes_left,
        is_required: (await isRequired(em, organisationId)) ? 1 : 0,
      };
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'POST',
    path: '/auth/second-factors/enrolments',
    action: 'enrol',
    summary: 'Begin to add an authenticator app or a security key; requires the password',
    reply: enrolReply,
    body: enrolBody,
    deadlineMs: hashingDeadlineMs,
    async handle(call) {
      const user = await reauthenticated(call, call.body.current_password);
      return call.write((change) => beginEnrolment(change, call.services, user, call.body));
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'POST',
    path: '/auth/second-factors/:factorId/confirm',
    action: 'confirm',
    summary: 'Complete the enrolment of a second factor; the reply to the first one contains recovery codes',
    reply: confirmReply,
    body: confirmBody,
    async handle(call) {
      const id = factorIdOf(call.params);
      const user = await call.em.findOneOrFail(users, { id: userIdOf(call.actor), organisationId: call.organisationId });
      const recovery_codes = await call.write((change) => confirmEnrolment(change, call.services, user, id, call.body));
      return { id, recovery_codes, object: 'second_factor' };
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'DELETE',
    path: '/auth/second-factors/:factorId',
    hasNoVersion: true,
    action: 'delete',
    summary: 'Remove one of your second factors; requires the password',
    reply: nothing,
    body: passwordBody,
    deadlineMs: hashingDeadlineMs,
    async handle(call) {
      const id = factorIdOf(call.params);
      const user = await reauthenticated(call, call.body.current_password);
      await call.write((change) => removeFactor(change, user, id));
      return {};
    },
  }),
  defineRoute({
    ...ofOneself,
    method: 'POST',
    path: '/auth/recovery-codes',
    action: 'replace_recovery_codes',
    summary: 'Replace your recovery codes; requires the password',
    reply: codesReply,
    body: passwordBody,
    deadlineMs: hashingDeadlineMs,
    async handle(call) {
      const user = await reauthenticated(call, call.body.current_password);
      const recovery_codes = await call.write(async ({ tx, about }) => {
        if ((await confirmedFactors(tx, user)).length === 0)
          throw new AdminError('AB07', 'Add a second factor before you create recovery codes');
        about(user);
        return replaceRecoveryCodes(tx, user, call.services.clock.now());
      });
      return { recovery_codes, object: 'recovery_codes' };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/admin/users/:userId/second-factors',
    hasNoVersion: true,
    scopes: ['organisation_users.update'],
    tenant: 'organisation',
    resource: 'second_factors',
    query: tenantQuery,
    action: 'reset',
    summary: 'Remove all second factors of a member who lost them; ends their sessions',
    reply: nothing,
    body: null,
    async handle(call) {
      const { organisationId, actor, params } = call;
      await call.write(async (change) => {
        const id = params.userId ?? '';
        const user = isUuid(id) ? await change.tx.findOne(users, { id, organisationId }) : null;
        if (!user) throw notFound('User');
        requireRank(actor, user.role);
        const memberships = await change.tx.find(workspaceMembers, { organisationId, userId: id });
        await requireMemberships(
          change.tx,
          actor,
          memberships.map((one) => ({ id: one.workspaceId, role: one.role })),
        );
        await removeAllFactors(change, user);
        await endSessions(change.tx, user, null);
        change.about({ id });
      });
      return {};
    },
  }),
];

function reauthenticated(call: AdminCall<unknown, unknown>, password: string) {
  const { em, services, actor, organisationId } = call;
  return reauthenticate(em, services, { userId: userIdOf(actor), organisationId, sessionId: actor.keyId }, password);
}

function userIdOf(actor: AdminCall<unknown, unknown>['actor']): string {
  if (!actor.session) throw forbidden('a session is required');
  return actor.session.userId;
}

/** Throws AB08 for an id in another form, which the database would reject. */
function factorIdOf(params: Readonly<Record<string, string>>): string {
  const id = params.factorId ?? '';
  if (!isUuid(id)) throw notFound('Second factor');
  return id;
}
