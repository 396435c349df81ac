import type { Route } from './route.ts';

/** What the service itself keeps where a request names no provider; a config for these has one target at most. */
const kept = { format: 'chat', isKept: true } as const;

/** Files. An upload streams through: nobody reads it on the way, whatever its size. */
export const fileRoutes: readonly Route[] = [
  { method: 'POST', path: '/files', operation: 'uploadFile', body: 'stream', ...kept },
  { method: 'GET', path: '/files', operation: 'listFiles', body: 'none', ...kept },
  { method: 'GET', path: '/files/{id}', operation: 'retrieveFile', body: 'none', ...kept },
  { method: 'GET', path: '/files/{id}/content', operation: 'retrieveFileContent', body: 'none', ...kept },
  { method: 'DELETE', path: '/files/{id}', operation: 'deleteFile', body: 'none', ...kept },
];
