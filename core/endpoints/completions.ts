import type { Route } from './route.ts';

export const completions: Route = { method: 'POST', path: '/completions', operation: 'complete', format: 'chat' };
