import type { Route } from './route.ts';

const kept = { format: 'chat', isKept: true } as const;

/** Fine-tuning jobs. Their events and checkpoints pass through as any other path. */
export const fineTuningRoutes: readonly Route[] = [
  { method: 'POST', path: '/fine_tuning/jobs', operation: 'createFinetune', ...kept },
  { method: 'GET', path: '/fine_tuning/jobs', operation: 'listFinetunes', body: 'none', ...kept },
  { method: 'GET', path: '/fine_tuning/jobs/{id}', operation: 'retrieveFinetune', body: 'none', ...kept },
  { method: 'POST', path: '/fine_tuning/jobs/{id}/cancel', operation: 'cancelFinetune', body: 'none', ...kept },
];
