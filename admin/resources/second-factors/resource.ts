import { hourMs } from '../../../core/contract/values/time/durations.ts';
import { defineResource } from '../../define-resource.ts';
import { pendingSignIns, recoveryCodes, secondFactors } from '../../identity/second-factor/entity.ts';
import { forgetPendings } from '../../identity/second-factor/pending.ts';
import { SecondFactors } from './migrations/202611230250-second-factors.ts';
import { secondFactorRoutes } from './routes.ts';
import { secondFactorSignInRoutes } from './sign-in-routes.ts';

/** Second factors of users with a password. `admin/identity/second-factor` has the tables, because every sign-in reads them. */
export const secondFactorsResource = defineResource({
  name: 'second-factors',
  after: ['users', 'sessions'],
  entities: [secondFactors, recoveryCodes, pendingSignIns],
  migrations: [{ name: '202611230250-second-factors', class: SecondFactors }],
  routes: secondFactorRoutes,
  publicRoutes: secondFactorSignInRoutes,
  housekeeping: [
    {
      name: 'delete expired sign-ins and enrolments',
      async run({ database, clock }) {
        const em = database.em();
        const now = clock.now();
        await forgetPendings(em, now);
        await em.nativeDelete(secondFactors, { confirmedAt: null, createdAt: { $lte: new Date(now - hourMs) } });
      },
    },
  ],
});
