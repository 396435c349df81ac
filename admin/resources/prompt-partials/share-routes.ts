import { inBothEnvelopes } from '../../http/reply/reply-schemas.ts';
import { tenantQuery } from '../../http/request/schemas.ts';
import { type AdminRoute, defineRoute } from '../../http/route.ts';
import { defineShareRoutes } from './define-sharing.ts';
import { forkBody, forkPartial } from './fork.ts';
import { createReply } from './schema.ts';
import { findPartial, holdPartial } from './service.ts';

/** Routes that share partials with other workspaces of the organisation: to read, render and fork. */
export const partialShareRoutes: readonly AdminRoute[] = [
  ...defineShareRoutes({
    noun: 'partial',
    resource: 'prompt_partials',
    path: '/prompts/partials/:promptPartialId',
    find: findPartial,
    hold: holdPartial,
    document: 'prompt-partial',
  }),
  defineRoute({
    tenant: 'either',
    resource: 'prompt_partials',
    query: tenantQuery,
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
