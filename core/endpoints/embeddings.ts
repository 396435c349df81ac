import type { Route } from './route.ts';

export const embeddings: Route = { method: 'POST', path: '/embeddings', operation: 'embed', format: 'chat' };
