import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { ReservationRecord } from '../../core/contract/plugin/record/record.ts';
import { type ModelRates, refused, unavailable } from '../../core/contract/protocol/limits/leases.ts';
import type { GatewayError } from '../../core/contract/values/errors/errors.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { usedUnits } from './estimate.ts';
import { type Hold, reservationOf, use } from './hold.ts';
import type { Meter } from './meters.ts';
import { refusal, unknownLimit } from './refusal.ts';

/**
 * Renews the reservations of a session, which may last for hours. Usage is taken from the reservation. When it is used up, the
 * session reserves more: `most` if available, otherwise as much as its last reply has used. Returns the error that ends the
 * session, or null. `left` receives the usage of leases that have ended.
 */
export async function renewHolds(
  ctx: RequestContext,
  holds: readonly Hold[],
  left: ReservationRecord[],
  rates: ModelRates | null,
  most: (meter: Meter) => number,
  nowMs: number,
): Promise<GatewayError | null> {
  for (const hold of holds) {
    const { meter } = hold;
    if (meter.unit === 'requests') continue;
    // All reservations of the session have been settled in the meantime.
    if (ctx.ended) return null;
    const before = hold.counted;
    use(hold, usedUnits(meter.unit, ctx, rates));
    if (hold.units >= 1) continue;
    const taken = takeMore(hold, Math.max(most(meter), hold.counted - before));
    const units = isPromise(taken) ? await taken : taken;
    if (units === refused) return refusal(meter, 1, nowMs, hold);
    if (units === unavailable && meter.onUnavailable === 'deny') return unknownLimit(meter);
    if (units < 0) continue;
    if (ctx.ended) meter.account.put(units, meter.account.startMs, meter.account.lease);
    else enter(hold, units, left);
  }
  return null;
}

function takeMore(hold: Hold, most: number): Maybe<number> {
  const { account, capacity } = hold.meter;
  // The account settles usage beyond the reserved amount.
  if (hold.startMs !== 0 && hold.lease !== null) account.put(hold.units, hold.startMs, hold.lease);
  hold.units = 0;
  return account.take(1, Math.max(1, Math.min(most, capacity)));
}

/** The new reservation may belong to another window or lease than the previous one. */
function enter(hold: Hold, units: number, left: ReservationRecord[]): void {
  const { account } = hold.meter;
  if (hold.lease !== account.lease || hold.startMs !== account.startMs) {
    if (hold.lease !== null) {
      left.push(reservationOf(hold));
      account.release(hold.lease);
    }
    account.hold();
    hold.lease = account.lease;
    hold.startMs = account.startMs;
    hold.used = 0;
  }
  hold.units += units;
}
