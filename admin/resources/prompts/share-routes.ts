import { emptyReply, inBothEnvelopes } from '../../http/reply-schemas.ts';
import { type AdminCall, type AdminRoute, defineRoute } from '../../http/route.ts';
import { tenantQuery } from '../../http/schemas.ts';
import type { Change } from '../../publish/write-change.ts';
import { forkBody } from '../prompt-partials/fork.ts';
import { share, shareBody, shareReply, toShareReply, unshare, unshareBody } from '../prompt-partials/share.ts';
import type { Prompt } from './entity.ts';
import { forkPrompt } from './fork.ts';
import { createReply } from './reply-schema.ts';
import { announceShare, findPrompt, holdPrompt, touch } from './service.ts';

const shared = { tenant: 'either', resource: 'prompts', query: tenantQuery, body: null } as const;

/** Routes that share prompts with other workspaces of the organisation: to read, render and fork. */
export const promptShareRoutes: readonly AdminRoute[] = [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/prompts/:promptId/share',
    summary: 'Read the workspaces that a prompt is shared with',
    scopes: ['prompts.read'],
    action: 'read-share',
    reply: shareReply,
    handle: async (call) => inBothEnvelopes(toShareReply(await findPrompt(call.em, call, call.params.promptId ?? ''))),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts/:promptId/share',
    summary: 'Share a prompt with further workspaces, or with the organisation',
    scopes: ['prompts.update'],
    action: 'share',
    body: shareBody,
    reply: shareReply,
    handle: (call) => changeShare(call, ({ tx }, row) => share(tx, row, call.body.shared_with, false)),
  }),
  defineRoute({
    ...shared,
    method: 'PUT',
    path: '/prompts/:promptId/share',
    summary: 'Share a prompt with exactly these workspaces, or with the organisation',
    scopes: ['prompts.update'],
    action: 'share',
    body: shareBody,
    reply: shareReply,
    handle: (call) => changeShare(call, ({ tx }, row) => share(tx, row, call.body.shared_with, true)),
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/prompts/:promptId/share',
    summary: 'Stop sharing a prompt',
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
    path: '/prompts/:promptId/unshare',
    summary: 'Stop sharing a prompt, with all or with some workspaces',
    scopes: ['prompts.update'],
    action: 'unshare',
    body: unshareBody,
    reply: shareReply,
    handle: (call) => changeShare(call, ({ tx }, row) => unshare(tx, row, call.body.shared_with)),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/prompts/:promptId/fork',
    summary: 'Copy a prompt, or a version of it, into the workspace',
    scopes: ['prompts.create'],
    action: 'fork',
    body: forkBody,
    reply: createReply,
    async handle(call) {
      const { prompt, version } = await call.write((change) =>
        forkPrompt(change, call, call.actor, call.params.promptId ?? '', call.body),
      );
      call.tag(prompt.revision);
      return inBothEnvelopes({ id: prompt.id, slug: prompt.slug, version_id: version.id, object: 'prompt' });
    },
  }),
];

type Call = Pick<AdminCall<unknown, unknown>, 'organisationId' | 'workspaceId' | 'params' | 'actor' | 'match' | 'tag' | 'write'>;

async function changeShare(call: Call, work: (change: Change, row: Prompt) => Promise<void>) {
  const prompt = await call.write(async (change) => {
    const found = await holdPrompt(change.tx, call, call.params.promptId ?? '');
    call.match(found.revision);
    await work(change, found);
    touch(found, call.actor);
    announceShare(change, found);
    return found;
  });
  call.tag(prompt.revision);
  return inBothEnvelopes(toShareReply(prompt));
}
