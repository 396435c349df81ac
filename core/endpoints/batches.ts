import type { Route } from './route.ts';

const kept = { format: 'chat', isKept: true } as const;

/** Batches: many requests in a file, answered into a file. */
export const batchRoutes: readonly Route[] = [
  { method: 'POST', path: '/batches', operation: 'createBatch', ...kept },
  { method: 'GET', path: '/batches', operation: 'listBatches', body: 'none', ...kept },
  { method: 'GET', path: '/batches/{id}', operation: 'retrieveBatch', body: 'none', ...kept },
  { method: 'GET', path: '/batches/{id}/output', operation: 'getBatchOutput', body: 'none', ...kept },
  { method: 'POST', path: '/batches/{id}/cancel', operation: 'cancelBatch', body: 'none', ...kept },
];
