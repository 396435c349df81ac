import type { Route } from './route.ts';

export const responses: Route = { method: 'POST', path: '/responses', operation: 'createModelResponse', format: 'responses' };

/** Routes for responses that a provider stores, and two that inspect a request without making a response. */
export const responseRoutes: readonly Route[] = [
  { method: 'GET', path: '/responses/{id}', operation: 'getModelResponse', format: 'responses', body: 'none' },
  { method: 'DELETE', path: '/responses/{id}', operation: 'deleteModelResponse', format: 'responses', body: 'none' },
  { method: 'GET', path: '/responses/{id}/input_items', operation: 'listResponseInputItems', format: 'responses', body: 'none' },
  { method: 'POST', path: '/responses/{id}/cancel', operation: 'cancelModelResponse', format: 'responses', body: 'none' },
  { method: 'POST', path: '/responses/input_tokens', operation: 'countResponseInputTokens', format: 'responses' },
  { method: 'POST', path: '/responses/compact', operation: 'compactModelResponse', format: 'responses' },
];
