import type { Route } from './route.ts';

export const chatCompletions: Route = { method: 'POST', path: '/chat/completions', operation: 'chatComplete', format: 'chat' };
