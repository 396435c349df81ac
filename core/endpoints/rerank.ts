import type { Route } from './route.ts';

/** Cohere's body: `{model, query, documents, top_n}`. */
export const rerank: Route = { method: 'POST', path: '/rerank', operation: 'rerank', format: 'chat' };
