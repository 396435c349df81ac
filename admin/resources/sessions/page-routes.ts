import { html } from 'hono/html';
import * as v from 'valibot';
import { definePublicRoute, type PublicRoute } from '../../http/public-route.ts';
import { pagesRoot, routePage } from '../../pages/layout.ts';

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
    handle: () => routePage({ title: 'Signed in', body: html`<p role="status">You are signed in. You can close this page.</p>` }),
  }),
  definePublicRoute({
    ...shared,
    path: '/auth/signed-out',
    summary: 'The page after a logout at an identity provider',
    handle: () =>
      routePage({
        title: 'Signed out',
        body: html`<p role="status">You are signed out. You can close this page.</p>
<p><a href="${pagesRoot}sign-in">Sign in again</a></p>`,
      }),
  }),
];
