import type { Route } from './route.ts';

export const responses: Route = { method: 'POST', path: '/responses', operation: 'createModelResponse', format: 'responses' };
