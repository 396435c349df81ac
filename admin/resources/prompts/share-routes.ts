import { inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { defineShareRoutes } from '../prompt-partials/define-sharing.ts';
import { forkBody } from '../prompt-partials/fork.ts';
import { forkPrompt } from './fork.ts';
import { createReply } from './reply-schema.ts';
import { findPrompt, holdPrompt } from './service.ts';

/** Routes that share prompts with other workspaces of the organisation: to read, render and fork. */
export const promptShareRoutes: readonly AdminRoute[] = [
  ...defineShareRoutes({
    noun: 'prompt',
    resource: 'prompts',
    path: '/prompts/:promptId',
    find: findPrompt,
    hold: holdPrompt,
    document: 'prompt',
  }),
  defineRoute({
    tenant: 'either',
    resource: 'prompts',
    query: tenantQuery,
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
