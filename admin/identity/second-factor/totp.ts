import { Secret, TOTP } from 'otpauth';
import type { EntityManager } from '../../db/open-database.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { TooManyRequests } from '../../http/caller/rate-limit.ts';
import { type SecondFactor, secondFactors } from './entity.ts';

/** SHA-1, six digits and 30 s: the only parameters that every authenticator app supports. HMAC-SHA-1 is not affected by collisions. */
const parameters = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
/** Codes of the previous and the next step are accepted, because clocks differ. */
const window = 1;
/** Wrong codes in a row, and the milliseconds for which they count. */
const failuresMax = 5;
const failuresMs = 300_000;

const contextOf = ({ id, organisationId }: SecondFactor) => ({
  organisationId,
  table: 'second_factors',
  column: 'secret',
  rowId: id,
});

/** Creates a secret for the factor. Returns it in base32, and as the URI that authenticator apps read. */
export async function createTotpSecret(
  tx: EntityManager,
  vault: AdminServices['vault'],
  factor: SecondFactor,
  account: string,
  issuer: string,
): Promise<{ secret: string; uri: string }> {
  const secret = new Secret({ size: 20 });
  factor.secret = await vault.seal(tx, contextOf(factor), secret.base32);
  // A colon separates issuer and account in the label.
  return {
    secret: secret.base32,
    uri: new TOTP({ ...parameters, issuer: issuer.replaceAll(':', ' '), label: account, secret }).toString(),
  };
}

/**
 * Counts an attempt before its code is checked, in a transaction of its own, so that concurrent attempts count too. Throws AB06
 * after five failures in five minutes. The count is in the database and applies to all processes.
 */
export async function countTotpAttempt(em: EntityManager, factor: SecondFactor, now: number): Promise<void> {
  const [at, since] = [new Date(now), new Date(now - failuresMs)];
  const [row] = await em.transactional((tx) =>
    tx.execute<{ failures: number }[]>(
      `update second_factors set
        failures = case when failures_since > ? then failures + 1 else 1 end,
        failures_since = case when failures_since > ? then failures_since else ? end
       where id = ? and organisation_id = ? returning failures`,
      [since, since, at, factor.id, factor.organisationId],
    ),
  );
  if ((row?.failures ?? 0) > failuresMax) throw new TooManyRequests(failuresMs / 1_000);
}

/** Checks a code and marks its time step as used. False for wrong codes and for codes that were used. */
export async function useTotpCode(
  tx: EntityManager,
  vault: AdminServices['vault'],
  factor: SecondFactor,
  code: string,
  now: number,
): Promise<boolean> {
  if (factor.secret === null || factor.secret === undefined) return false;
  const secret = Secret.fromBase32(await vault.open(tx, contextOf(factor), factor.secret));
  const delta = new TOTP({ ...parameters, secret }).validate({ token: code, timestamp: now, window });
  if (delta === null) return false;
  const step = Math.floor(now / 1_000 / parameters.period) + delta;
  const { id, organisationId } = factor;
  // One statement checks and stores the step, so that the second of two requests with the same code fails.
  const used = await tx.nativeUpdate(
    secondFactors,
    { id, organisationId, $or: [{ lastStep: null }, { lastStep: { $lt: step } }] },
    { lastStep: step, lastUsedAt: new Date(now), failures: 0, failuresSince: null },
  );
  return used === 1;
}
