import type { FilterQuery } from '@mikro-orm/core';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import { findPage } from '../../db/find-page.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply, inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { pageOf, requireUnchanged, tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { checkContent, listChecks } from './check-content.ts';
import { type Guardrail, guardrails } from './entity.ts';
import {
  checksReply,
  createBody,
  listQuery,
  listReply,
  readReply,
  receiptReply,
  testBody,
  testReply,
  updateBody,
  versionReply,
  versionsReply,
} from './schema.ts';
import {
  archiveGuardrail,
  createGuardrail,
  currentVersion,
  findGuardrail,
  findVersion,
  listVersions,
  mappingsOf,
  requireScope,
  updateGuardrail,
} from './service.ts';
import { testGuardrail } from './test-guardrail.ts';
import { toDetail, toReceipt, toRow, toVersion } from './to-reply.ts';

const shared = { tenant: 'either', resource: 'guardrails', query: tenantQuery, body: null } as const;

/** Guardrails of workspaces and those of the organisation have scopes of their own. The handler checks the right one. */
const scopes = (action: string) => [`guardrails.${action}`, `organisation_guardrails.${action}`];

/** Routes of saved guardrails. */
export const guardrailRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/guardrails',
    summary: 'List the saved guardrails, newest first',
    scopes: scopes('list'),
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle({ em, actor, organisationId, workspaceId, query }) {
      const where: FilterQuery<Guardrail>[] = [{ organisationId, status: 'active' }];
      if (workspaceId !== null) where.push({ workspaceId });
      if (!actor.scopes.has('guardrails.list')) where.push({ workspaceId: null });
      if (!actor.scopes.has('organisation_guardrails.list')) where.push({ workspaceId: { $ne: null } });
      if (query.ids !== undefined) {
        const names = query.ids.split(',');
        where.push({ $or: [{ slug: { $in: names } }, { id: { $in: names.filter((name) => isUuid(name)) } }] });
      }
      where.push(searchIn(query.search, 'name', 'slug'));
      const page = { ...pageOf(query), orderBy: { createdAt: 'desc', id: 'asc' } } as const;
      const [rows, total] = await findPage(em, guardrails, { $and: where }, page);
      return { object: 'list', total, data: rows.map(toRow) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/guardrails',
    summary: 'Save a guardrail of a workspace, or of the organisation if no workspace is named',
    scopes: scopes('create'),
    action: 'create',
    body: createBody,
    reply: receiptReply,
    async handle(call) {
      const { organisationId, workspaceId, actor, body, services } = call;
      requireScope(actor, { workspaceId }, 'create');
      const sides = await checkContent(call, body.checks, body.target);
      const made = await call.write((change) =>
        createGuardrail(change, services.vault, { organisationId, workspaceId }, actor, body, sides),
      );
      call.tag(made.revision);
      return inBothEnvelopes(toReceipt(made));
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/guardrails/checks',
    summary: 'List the checks of this deployment, with JSON Schemas of their parameters',
    scopes: [...scopes('list'), ...scopes('read')],
    action: 'list-checks',
    reply: checksReply,
    async handle(call) {
      const data = await listChecks(call.services);
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/guardrails/test',
    runsAgain: true,
    summary: 'Run a saved guardrail, or unsaved checks, on a text',
    scopes: [...scopes('read'), ...scopes('create')],
    action: 'test',
    body: testBody,
    reply: testReply,
    handle: (call) => testGuardrail(call, call.body),
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/guardrails/:guardrailId',
    summary: 'Read the current version of a guardrail, its secrets masked',
    scopes: scopes('read'),
    action: 'read',
    reply: readReply,
    async handle(call) {
      const row = await findGuardrail(call.em, call, call.params.guardrailId ?? '', 'read');
      call.tag(row.revision);
      return inBothEnvelopes(toDetail(row, await currentVersion(call.em, row), await mappingsOf(call, row)));
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/guardrails/:guardrailId',
    summary: 'Change a guardrail; changed checks or actions get a new version',
    scopes: scopes('update'),
    action: 'update',
    body: updateBody,
    reply: receiptReply,
    async handle(call) {
      const { body, actor, services } = call;
      const name = call.params.guardrailId ?? '';
      const { target } = await findGuardrail(call.em, call, name, 'update');
      const sides = body.checks ? await checkContent(call, body.checks, target) : null;
      const row = await call.write(async (change) => {
        const found = await findGuardrail(change.tx, call, name, 'update', 'for update');
        call.match(found);
        requireUnchanged('slug', body.slug, found.slug);
        requireUnchanged('target', body.target, found.target);
        await updateGuardrail(change, services.vault, actor, found, body, sides);
        return found;
      });
      return inBothEnvelopes(toReceipt(row));
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/guardrails/:guardrailId',
    summary: 'Archive a guardrail that no default and no config uses',
    scopes: scopes('delete'),
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findGuardrail(change.tx, call, call.params.guardrailId ?? '', 'delete', 'for update');
        call.match(row);
        await archiveGuardrail(change, call.actor, row);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/guardrails/:guardrailId/versions',
    summary: 'List all versions of a guardrail, newest first',
    scopes: scopes('read'),
    action: 'list-versions',
    reply: versionsReply,
    async handle(call) {
      const row = await findGuardrail(call.em, call, call.params.guardrailId ?? '', 'read');
      const mappings = await mappingsOf(call, row);
      const data = (await listVersions(call.em, row)).map((version) => toVersion(row, version, mappings));
      return { object: 'list', total: data.length, data };
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/guardrails/:guardrailId/versions/:guardrailVersionId',
    summary: 'Read one version of a guardrail',
    scopes: scopes('read'),
    action: 'read-version',
    reply: versionReply,
    async handle(call) {
      const row = await findGuardrail(call.em, call, call.params.guardrailId ?? '', 'read');
      const version = await findVersion(call.em, row, call.params.guardrailVersionId ?? '');
      return inBothEnvelopes(toVersion(row, version, await mappingsOf(call, row)));
    },
  }),
];
