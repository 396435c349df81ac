import { emptyReply, inBothEnvelopes } from '../../http/reply-schemas.ts';
import { type AdminCall, type AdminRoute, defineRoute } from '../../http/route.ts';
import { tenantQuery } from '../../http/schemas.ts';
import type { Change } from '../../publish/write-change.ts';
import type { PromptPartial } from './entity.ts';
import { forkBody, forkPartial } from './fork.ts';
import { createReply } from './schema.ts';
import { announceShare, findPartial, holdPartial, touch } from './service.ts';
import { share, shareBody, shareReply, toShareReply, unshare, unshareBody } from './share.ts';

const shared = { tenant: 'either', resource: 'prompt_partials', query: tenantQuery, body: null } as const;

/** Routes that share partials with other workspaces of the organisation: to read, render and fork. */
export const partialShareRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/partials/:promptPartialId/share',
    summary: 'Read the workspaces that a partial is shared with',
    scopes: ['prompts.read'],
    action: 'read-share',
    reply: shareReply,
    handle: async (call) => inBothEnvelopes(toShareReply(await findPartial(call.em, call, call.params.promptPartialId ?? ''))),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts/partials/:promptPartialId/share',
    summary: 'Share a partial with further workspaces, or with the organisation',
    scopes: ['prompts.update'],
    action: 'share',
    body: shareBody,
    reply: shareReply,
    handle: (call) => changeShare(call, ({ tx }, row) => share(tx, row, call.body.shared_with, false)),
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/prompts/partials/:promptPartialId/share',
    summary: 'Share a partial with exactly these workspaces, or with the organisation',
    scopes: ['prompts.update'],
    action: 'share',
    body: shareBody,
    reply: shareReply,
    handle: (call) => changeShare(call, ({ tx }, row) => share(tx, row, call.body.shared_with, true)),
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/prompts/partials/:promptPartialId/share',
    summary: 'Stop sharing a partial',
    scopes: ['prompts.update'],
    action: 'unshare',
    reply: emptyReply,
    async handle(call) {
      await changeShare(call, ({ tx }, row) => unshare(tx, row, undefined));
      return {};
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts/partials/:promptPartialId/unshare',
    summary: 'Stop sharing a partial, with all or with some workspaces',
    scopes: ['prompts.update'],
    action: 'unshare',
    body: unshareBody,
    reply: shareReply,
    handle: (call) => changeShare(call, ({ tx }, row) => unshare(tx, row, call.body.shared_with)),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts/partials/:promptPartialId/fork',
    summary: 'Copy a partial, or a version of it, into the workspace',
    scopes: ['prompts.create'],
    action: 'fork',
    body: forkBody,
    reply: createReply,
    async handle(call) {
      const { partial, version } = await call.write((change) =>
        forkPartial(change, call, call.actor, call.params.promptPartialId ?? '', call.body),
      );
      call.tag(partial.revision);
      return inBothEnvelopes({ id: partial.id, slug: partial.slug, version_id: version.id, object: 'partial' });
    },
  }),
];

type Call = Pick<AdminCall<unknown, unknown>, 'organisationId' | 'workspaceId' | 'params' | 'actor' | 'match' | 'tag' | 'write'>;

async function changeShare(call: Call, work: (change: Change, row: PromptPartial) => Promise<void>) {
  const partial = await call.write(async (change) => {
    const found = await holdPartial(change.tx, call, call.params.promptPartialId ?? '');
    call.match(found.revision);
    await work(change, found);
    touch(found, call.actor);
    announceShare(change, found);
    return found;
  });
  call.tag(partial.revision);
  return inBothEnvelopes(toShareReply(partial));
}
