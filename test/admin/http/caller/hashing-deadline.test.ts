import { expect, it } from 'vitest';
import { hashingDeadlineMs } from '../../../../admin/http/caller/hashing-deadline.ts';
import { adminRoutes } from '../../../../admin/tables.ts';

const membersOf = (body: unknown) => Object.keys((body as { entries?: object } | null)?.entries ?? {});
const checkingPasswords = adminRoutes.filter(({ body }) => membersOf(body).includes('current_password'));

it('requests that check the current password have time for its hash', () => {
  expect(checkingPasswords.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    'DELETE /auth/second-factors/:factorId',
    'POST /auth/password',
    'POST /auth/recovery-codes',
    'POST /auth/second-factors/enrolments',
  ]);
  for (const { deadlineMs } of checkingPasswords) expect(deadlineMs).toBe(hashingDeadlineMs);
});
