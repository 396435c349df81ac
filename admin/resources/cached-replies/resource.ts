import { defineResource } from '../../define-resource.ts';
import { cachedReplies } from './entity.ts';
import { forgetExpired } from './forget-expired.ts';
import { CachedReplies } from './migrations/202611221430-cached-replies.ts';
import { CachePurges } from './migrations/202611221500-cache-purges.ts';
import { SimilarReplies } from './migrations/202611221700-similar-replies.ts';
import { cachedReplyRoutes } from './routes.ts';

export const cachedRepliesResource = defineResource({
  name: 'cached-replies',
  after: ['workspaces'],
  entities: [cachedReplies],
  migrations: [
    { name: '202611221430-cached-replies', class: CachedReplies },
    { name: '202611221500-cache-purges', class: CachePurges },
    { name: '202611221700-similar-replies', class: SimilarReplies },
  ],
  routes: cachedReplyRoutes,
  dependents: {
    workspace: [
      {
        what: 'cached replies',
        async remove(change, { id }) {
          await change.tx.nativeDelete(cachedReplies, { workspaceId: id });
        },
      },
    ],
  },
  housekeeping: [
    {
      name: 'delete expired cached replies',
      run: ({ database, clock, isClosing }) => forgetExpired(database.em(), new Date(clock.now()), isClosing),
    },
  ],
});
