import type { BudgetScope } from '../../core/contract/protocol/limits/limit-kinds.ts';
import { errorTable, GatewayError } from '../../core/contract/values/errors/errors.ts';
import type { HeaderList } from '../../core/contract/values/http/http.ts';
import { counted } from '../../core/contract/values/text/counted.ts';
import type { Hold } from './hold.ts';
import { type Meter, microUsd } from './meters.ts';

/** Headers that belong to an error. They are sent only if the client gets that error, because a fallback may still succeed. */
const headersByError = new WeakMap<GatewayError, HeaderList>();

/** Returns the `x-ratelimit-…` headers of an error. Empty for other errors. */
export function refusalHeaders(error: GatewayError): HeaderList {
  return headersByError.get(error) ?? [];
}

const names: Readonly<Record<BudgetScope, string>> = {
  key: 'API key',
  workspace: 'Workspace',
  provider: 'Provider',
  integration: 'Integration',
  policy: 'Policy',
};

/**
 * Returns the error for a request that a limit has no room for: 412 for budgets, 429 with the time to wait for rate limits. `own`: units of this
 * limit that the request itself already holds, if it does. `members`: those of the request that make its output smaller.
 */
export function refusal(
  meter: Meter,
  needed: number,
  nowMs: number,
  own: Pick<Hold, 'units'> | null,
  members = 'max_tokens',
): GatewayError {
  const { scope, policy } = meter;
  if (policy !== null && meter.isBudget) {
    return new GatewayError('usage_policy_limit', {
      message: `Usage Limits Policy ${policy.id} Exceeded for value key ${policy.valueKey}${reasonOf(meter, needed, own, members)}`,
    });
  }
  if (scope !== 'policy' && meter.isBudget) {
    const code = `${scope}_usage_limit` as const;
    return new GatewayError(code, { message: `${errorTable[code].public}${reasonOf(meter, needed, own, members)}` });
  }
  const { unit, capacity, period, account } = meter;
  const tooLarge = needed > capacity && capacity > 0;
  const waitMs = Math.max(0, account.endMs - nowMs);
  const what =
    policy === null
      ? `${names[scope]} rate limit exceeded`
      : `Rate Limit Policy ${policy.id} exceeded for value key ${policy.valueKey}`;
  const error = new GatewayError(scope === 'policy' ? 'rate_policy_limit' : `${scope}_rate_limit`, {
    message: `${what}: ${amountOf(capacity, unit)} per ${period}${tooLarge ? `, and this request may need ${needed}` : ''}`,
    retryAfterMs: waitMs,
  });
  const left = Math.max(0, Math.min(account.left, capacity));
  headersByError.set(error, [
    `x-ratelimit-limit-${unit}`,
    String(capacity),
    `x-ratelimit-remaining-${unit}`,
    String(left),
    `x-ratelimit-reset-${unit}`,
    `${Math.max(1, Math.ceil(waitMs / 1000))}s`,
  ]);
  return error;
}

/** Explains the rejection by a budget that has too few units for this request, or whose units other calls hold; else returns an empty text. */
function reasonOf({ unit, capacity, account }: Meter, needed: number, own: Pick<Hold, 'units'> | null, members: string): string {
  const isHeld = needed <= capacity && (account.calls > (own === null ? 0 : 1) || account.heldElsewhere > 0);
  const left = Math.floor(account.left + Math.max(0, own?.units ?? 0));
  // Enough is left, but another call without a maximum may use it.
  if (needed <= left) {
    return ': calls in progress may use the rest of it. Set max_tokens, try again when they have ended, or raise the limit';
  }
  if (needed <= 1 || (left < 1 && needed <= capacity)) {
    return isHeld ? ': calls in progress hold the rest of it. Try again when they have ended, or raise the limit' : '';
  }
  const verb = unit === 'cost' ? 'cost' : 'use';
  // The ledger is not asked for more than the limit, so what is left may be unknown.
  const rest =
    needed > capacity
      ? `the limit is ${amountOf(capacity, unit)}`
      : `${amountOf(left, unit)} ${unit === 'cost' || left === 1 ? 'is' : 'are'} left`;
  const wait = isHeld ? ' while other calls are in progress' : '';
  return `: this request may ${verb} ${amountOf(needed, unit)}, and ${rest}${wait}. Set a smaller ${members}${isHeld ? ', try again when they have ended,' : ''} or raise the limit`;
}

/** Returns `0.5 USD`, `1 request` or `20 tokens`. */
function amountOf(units: number, unit: Meter['unit']): string {
  return unit === 'cost' ? `${units / microUsd} USD` : counted(units, unit.slice(0, -1));
}

/** Returns the error for a request while the remaining amount of an enforced limit is unknown. */
export function unknownLimit(meter: Meter): GatewayError {
  const what = meter.isBudget ? 'budget' : 'rate limit';
  return new GatewayError('limit_unknown', {
    message: `The ${what} of the ${names[meter.scope]} cannot be checked right now. Try again shortly`,
    retryAfterMs: 1000,
  });
}
