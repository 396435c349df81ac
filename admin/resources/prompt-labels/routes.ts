import { findPage } from '../../db/find-page.ts';
import { forbidden, notFound } from '../../http/errors.ts';
import { searchIn } from '../../http/filters/search-in.ts';
import { emptyReply, inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { pageOf } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { promptLabels } from './entity.ts';
import { createBody, listQuery, listReply, readQuery, readReply, receiptReply, updateBody } from './schema.ts';
import { archiveLabel, createLabel, findLabel, labelsOf, updateLabel } from './service.ts';
import { toRow } from './to-reply.ts';

const shared = { tenant: 'either', resource: 'prompt_labels', query: readQuery, body: null } as const;

/** Routes of labels. Labels have no scopes of their own: those of prompts apply. */
export const promptLabelRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/labels',
    summary: 'List the labels that prompts of the workspace can use',
    scopes: ['prompts.list'],
    action: 'list',
    query: listQuery,
    reply: listReply,
    async handle(call) {
      const { em, query } = call;
      requireOwnOrganisation(call.organisationId, query.organization_id);
      const where = {
        $and: [labelsOf(call), searchIn(query.search, 'name'), query.name === undefined ? {} : { name: query.name }],
      };
      const page = { ...pageOf(query), orderBy: { createdAt: 'asc', name: 'asc' } } as const;
      const [rows, total] = await findPage(em, promptLabels, where, page);
      return { object: 'list', total, data: rows.map(toRow) };
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/labels',
    summary: 'Create a label for the workspace, or for the organisation if no workspace is named',
    scopes: ['prompts.create'],
    action: 'create',
    body: createBody,
    reply: receiptReply,
    async handle(call) {
      requireOwnOrganisation(call.organisationId, call.body.organization_id);
      const { id, revision } = await call.write((change) => createLabel(change, call, call.body));
      call.tag(revision);
      return inBothEnvelopes({ id, object: 'label' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/labels/:labelId',
    summary: 'Read a label by id or name',
    scopes: ['prompts.read'],
    action: 'read',
    reply: readReply,
    async handle(call) {
      requireOwnOrganisation(call.organisationId, call.query.organization_id);
      const row = await findLabel(call.em, call, call.params.labelId ?? '');
      call.tag(row.revision);
      return inBothEnvelopes({ ...toRow(row), object: 'label' });
    },
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/labels/:labelId',
    summary: 'Change a label that is not universal',
    scopes: ['prompts.update'],
    action: 'update',
    body: updateBody,
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const found = await findOwn(change.tx, call);
        call.match(found);
        await updateLabel(change, found, call.body, call.services.dependents);
      });
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/labels/:labelId',
    summary: 'Archive a label that is not universal; references to it then fail',
    scopes: ['prompts.delete'],
    action: 'delete',
    reply: emptyReply,
    async handle(call) {
      await call.write(async (change) => {
        const row = await findOwn(change.tx, call);
        call.match(row);
        await archiveLabel(change, row, call.services.dependents);
      });
      return {};
    },
  }),
];

type Call = Parameters<typeof labelsOf>[0] & { readonly params: Readonly<Record<string, string>> };

/** The label, locked for a change. Callers of one workspace cannot change labels of the organisation. Throws AB03 and AB08. */
async function findOwn(em: Parameters<typeof findLabel>[0], call: Call) {
  const row = await findLabel(em, call, call.params.labelId ?? '', 'for update');
  if (call.workspaceId !== null && !row.workspaceId && !row.isUniversal)
    throw forbidden('This label belongs to the organisation. Only organisation API keys can change it');
  return row;
}

/** Throws AB08 if a client names another organisation. */
function requireOwnOrganisation(own: string, named: string | undefined): void {
  if (named !== undefined && named.toLowerCase() !== own) throw notFound('Organisation');
}
