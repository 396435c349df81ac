import * as v from 'valibot';
import { pageReply } from '../../http/page.ts';
import { definePublicRoute, type PublicRoute } from '../../http/public-route.ts';
import { RawReply } from '../../http/raw-reply.ts';
import { returnTo } from '../../identity/schema.ts';
import { signInPage } from '../../identity/sign-in-page.ts';
import { signedInUser } from '../../identity/signed-in.ts';

const shared = {
  method: 'GET',
  resource: 'sessions',
  action: 'read',
  reply: v.unknown(),
  alsoProduces: 'text/html',
  body: null,
} as const;

/** Pages for browsers without a console. */
export const sessionPages: readonly PublicRoute[] = [
  definePublicRoute({
    ...shared,
    path: '/auth/sign-in',
    summary: 'The page to sign in, with a password or at the identity provider of the e-mail',
    query: v.strictObject({ return_to: v.optional(returnTo) }),
    async handle(call) {
      if ((await signedInUser(call)) === null) return signInPage();
      return new RawReply('', { location: call.query.return_to ?? '/v1/auth/signed-in' }, 303);
    },
  }),
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
