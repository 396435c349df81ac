import * as v from 'valibot';
import { pageReply } from '../../http/page.ts';
import { definePublicRoute, type PublicRoute } from '../../http/public-route.ts';

const shared = {
  method: 'GET',
  resource: 'sessions',
  action: 'read',
  reply: v.unknown(),
  alsoProduces: 'text/html',
  body: null,
} as const;

/** Pages after a sign-in or logout. `admin/pages` has the other pages. */
export const sessionPages: readonly PublicRoute[] = [
  definePublicRoute({
    ...shared,
    path: '/auth/signed-in',
    summary: 'The page after a sign-in',
    handle: async () => pageReply({ title: 'Signed in', body: '<p>You are signed in. You can close this page.</p>' }),
  }),
  definePublicRoute({
    ...shared,
    path: '/auth/signed-out',
    summary: 'The page after a logout at an identity provider',
    handle: async () => pageReply({ title: 'Signed out', body: '<p>You are signed out. You can close this page.</p>' }),
  }),
];
