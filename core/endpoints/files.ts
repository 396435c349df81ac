import type { Route } from './route.ts';

/** Routes on files that the service stores if the request names no provider. Their config has at most one target. */
const kept = { format: 'chat', isKept: true } as const;

/** File routes. An upload streams through without being held, whatever its size. */
export const fileRoutes: readonly Route[] = [
  { method: 'POST', path: '/files', operation: 'uploadFile', body: 'stream', ...kept },
  { method: 'GET', path: '/files', operation: 'listFiles', body: 'none', ...kept },
  { method: 'GET', path: '/files/{id}', operation: 'retrieveFile', body: 'none', ...kept },
  { method: 'GET', path: '/files/{id}/content', operation: 'retrieveFileContent', body: 'none', ...kept },
  { method: 'DELETE', path: '/files/{id}', operation: 'deleteFile', body: 'none', ...kept },
];
