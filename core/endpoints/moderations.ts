import type { Route } from './route.ts';

export const moderations: Route = { method: 'POST', path: '/moderations', operation: 'moderate', format: 'chat' };
