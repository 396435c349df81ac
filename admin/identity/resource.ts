import { defineResource } from '../define-resource.ts';
import { oneTimeTokens, sessions } from './entity.ts';
import { forgetEnded } from './forget-ended.ts';
import { loginRoute } from './login-route.ts';
import { passwordRoutes } from './password-routes.ts';
import { sessionRoutes } from './session-routes.ts';

/** Sessions and links of people; its tables are below no folder of `resources/`. */
export const identityResource = defineResource({
  name: 'identity',
  entities: [sessions, oneTimeTokens],
  routes: sessionRoutes,
  publicRoutes: [loginRoute, ...passwordRoutes],
  housekeeping: [
    {
      name: 'delete ended sessions and used links',
      run: ({ database, settings }) => forgetEnded(database.em(), { idleTtlSeconds: settings.sessionIdleSeconds }, new Date()),
    },
  ],
});
