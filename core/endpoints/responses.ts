import type { Route } from './route.ts';

export const responses: Route = { method: 'POST', path: '/responses', operation: 'createModelResponse', format: 'responses' };

/** What can be done with responses a provider keeps, and two questions about ones not made yet. */
export const responseRoutes: readonly Route[] = [
  { method: 'GET', path: '/responses/{id}', operation: 'getModelResponse', format: 'responses', body: 'none' },
  { method: 'DELETE', path: '/responses/{id}', operation: 'deleteModelResponse', format: 'responses', body: 'none' },
  { method: 'GET', path: '/responses/{id}/input_items', operation: 'listResponseInputItems', format: 'responses', body: 'none' },
  { method: 'POST', path: '/responses/{id}/cancel', operation: 'cancelModelResponse', format: 'responses', body: 'none' },
  { method: 'POST', path: '/responses/input_tokens', operation: 'countResponseInputTokens', format: 'responses' },
  { method: 'POST', path: '/responses/compact', operation: 'compactModelResponse', format: 'responses' },
];
