import { defineResource } from '../../define-resource.ts';
import { oneTimeTokens, sessions } from '../../identity/entity.ts';
import { forgetEnded } from '../../identity/forget-ended.ts';
import { loginRoute } from './login-route.ts';
import { sessionPages } from './page-routes.ts';
import { passwordRoutes } from './password-routes.ts';
import { sessionRoutes } from './routes.ts';
import { tokenRoutes } from './token-routes.ts';

/** Sign-in, sessions and one-time links. `admin/identity` has the tables, because authentication reads them. */
export const sessionsResource = defineResource({
  name: 'sessions',
  entities: [sessions, oneTimeTokens],
  routes: sessionRoutes,
  publicRoutes: [loginRoute, ...passwordRoutes, ...tokenRoutes, ...sessionPages],
  housekeeping: [
    {
      name: 'delete ended sessions and used links',
      run: ({ database, settings, clock }) =>
        forgetEnded(database.em(), { idleTtlSeconds: settings.sessionIdleSeconds }, new Date(clock.now())),
    },
  ],
});
