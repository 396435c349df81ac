import * as v from 'valibot';
import type { Maybe } from '../../values/maybe.ts';
import { type BudgetRules, budgetRules, limitUnits as units } from './budget-rules.ts';

const timeMs = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const key = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const lease = v.pipe(v.string(), v.uuid());
const seq = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const holder = v.pipe(v.string(), v.uuid());
/** Maximum number of left leases, and of ended processes, in one question. */
export const leftMax = 100;
/** Maximum number of amounts in `parts`. Further requests are included in the next question. */
export const partsMax = 1_000;
export const endedHoldersMax = 1_000;

const shared = {
  /** Names the counter: one limit of one entity. */
  key,
  organisationId: v.pipe(v.string(), v.uuid()),
  /** Units of one window: requests, tokens or micro-USD. */
  capacity: units,
  /** Units that requests are waiting for. The ledger grants as many of them as are left. */
  need: units,
  /** Units that would be useful. The ledger grants only a share of the units left beyond `need`. */
  want: units,
  /** Names the share that this process holds. */
  lease,
  /** Counts the requests about this lease. The ledger grants nothing to a request that a later one overtook. */
  seq,
  /** Start of the window of the lease. 0: a budget whose window is not known yet. */
  startMs: timeMs,
  /** Units of the lease that the process received and did not return. Any further granted units were lost in transit. */
  kept: units,
};

/** Asks for units of a fixed window that begins at `startMs`. */
const rateAsk = v.object({ kind: v.literal('rate'), ...shared, lengthMs: timeMs });

/** Asks for units of a budget, whose window the ledger keeps. */
const budgetAsk = v.object({
  kind: v.literal('budget'),
  ...shared,
  ...budgetRules.entries,
  /** Leases of this budget that their holder has left. `kept` is the total that its records report, or will report. */
  left: v.optional(v.pipe(v.array(v.object({ lease, seq, kept: units })), v.maxLength(leftMax))),
  /**
   * The amounts that make up `need`, in the order they are served. If not all of it is left, the ledger grants what serves some of
   * them, so that no process holds units it cannot use.
   */
  parts: v.optional(v.pipe(v.array(units), v.maxLength(partsMax))),
  /** Units in hand that no request waits for. */
  spare: v.optional(units),
  /** Units of the smallest call that was rejected since the last ask because less is left. */
  refused: v.optional(units),
  /** Milliseconds since this process asked the others to return units (see `recallSubject`). */
  recalledMs: v.optional(timeMs),
});

/** `POST /internal/v1/leases`. */
export const leasesBody = v.object({
  /** The process that sends the question. */
  holder: v.optional(v.nullable(holder), null),
  asks: v.pipe(v.array(v.variant('kind', [rateAsk, budgetAsk])), v.maxLength(1_000)),
  /** Processes that have ended and whose records have all been stored. Nothing more is reported about their leases. */
  endedHolders: v.optional(v.pipe(v.array(holder), v.maxLength(endedHoldersMax)), []),
});

export const leasesReply = v.object({
  grants: v.array(
    v.object({
      key,
      startMs: timeMs,
      /** Null: the window has no end. */
      endMs: v.nullable(timeMs),
      units,
      /** Units that no lease holds after this grant. */
      remaining: units,
      /** Milliseconds for which the grant may be spent; null: until the window ends. */
      leaseMs: v.nullable(timeMs),
      /** True if the ledger did not have the lease: it holds only the units granted now. */
      isNew: v.optional(v.boolean()),
      /** Units of a budget that other leases hold. */
      others: v.optional(units),
      /** The part of `others` whose holders have not confirmed since the recall that calls in flight need all of it. */
      pending: v.optional(units),
    }),
  ),
});

const tokenRates = { input: v.number(), cacheRead: v.number(), output: v.number() };
/** Price of one token of a model, in micro-USD. */
const modelRates = v.object({
  ...tokenRates,
  /** The same in tiers of service that have prices of their own, by the tier's name. */
  tiers: v.optional(v.record(v.string(), v.object(tokenRates))),
  /** The same for calls with more input tokens than `above`, in ascending order. Absent if long calls cost the same. */
  sizes: v.optional(v.array(v.object({ above: v.number(), ...tokenRates }))),
  /** Price of one call of a tool that the provider runs, by the unit that counts it, such as `web_search`. */
  searches: v.optional(v.record(v.string(), v.number())),
  /** Prices of one token of images and audio, if they are other ones than those of text. */
  imageOutput: v.optional(v.number()),
  audioInput: v.optional(v.number()),
  audioOutput: v.optional(v.number()),
  /** Price of one character of speech, if the model prices characters. */
  characters: v.optional(v.number()),
  /** Price of one image, if the model prices images. */
  images: v.optional(v.record(v.string(), v.record(v.string(), v.number()))),
});
/** `GET /internal/v1/rates?workspace=&provider=&slug=&model=`; null: the price is not known. */
export const ratesReply = v.object({ rates: v.nullable(modelRates) });

/** Requests the return of units of these keys; see `recallSubject`. */
export const recallNotice = v.object({ keys: v.pipe(v.array(key), v.maxLength(1_000)) });
export type RecallNotice = v.InferOutput<typeof recallNotice>;

/** Beginning of the keys of rate limits. Records settle them by their lease alone: the ledger counts no usage of rate limits. */
export const rateKeyPrefix = 'rate:';

export type RateAsk = v.InferOutput<typeof rateAsk>;
export type BudgetAsk = v.InferOutput<typeof budgetAsk>;
export type LeaseAsk = RateAsk | BudgetAsk;
export type Grant = v.InferOutput<typeof leasesReply>['grants'][number];
export type ModelRates = v.InferOutput<typeof modelRates>;

/** One limit that units are taken from. */
export type LimitSpec = RateSpec | BudgetSpec;

interface RateSpec {
  readonly kind: 'rate';
  readonly key: string;
  readonly organisationId: string;
  readonly capacity: number;
  readonly lengthMs: number;
}

/** A budget as described by the documents of its entity. */
export interface BudgetSpec extends BudgetRules {
  readonly kind: 'budget';
  readonly key: string;
  readonly organisationId: string;
}

/** Results of `take` when it takes nothing: too few units are left in this window, or the ledger is unreachable. */
export const refused = -1;
export const unavailable = -2;

/** This process's part of one limit. */
export interface LeaseAccount {
  readonly key: string;
  readonly spec: LimitSpec;
  /** Names the lease that units are taken from. */
  readonly lease: string;
  /** Start of the window that units are taken from now; 0 before the first grant of a budget. */
  readonly startMs: number;
  /** Time at which it ends; Infinity: never. */
  readonly endMs: number;
  /** Units of the window that are left, as far as this process can see. */
  readonly left: number;
  /** Calls in progress of this process that have taken units. */
  readonly calls: number;
  /** Units that other processes held at the last reply of the ledger: those of their calls, also of calls that are not recorded yet. */
  readonly heldElsewhere: number;
  /**
   * Takes as many units as there are, between `least` and `most`. Returns at once if the lease holds them, else after a request
   * to the ledger. Never rejects. `refused` and `unavailable` take nothing.
   */
  take(least: number, most: number): Maybe<number>;
  /** Requests units from the ledger, if the lease lacks them, for a call that takes at least this many soon. */
  prepare(least: number): void;
  /**
   * Gives back units that were taken from this window and lease. Negative: more was used than taken. Ignored when the window has
   * ended.
   */
  put(units: number, startMs: number, lease: string | null): void;
  /** Notes that a call was rejected because it needs this many units. The ledger then reports the budget as exhausted. */
  noteRefusal(units: number): void;
  /** Registers a call that has taken units of the present lease. `release` ends it. */
  hold(): void;
  release(lease: string): void;
}

/** Shares of limits that this process holds as leases. */
export interface Leases {
  /** Returns the account of a limit: always the same one for the same key. A later spec changes its size and rules. */
  account(spec: LimitSpec): LeaseAccount;
  /** Returns the prices of a model, cached for some minutes. Rejects if they could not be read. */
  rates(call: PricedCall): Maybe<ModelRates | null>;
}

/** The properties of a call that determine its price. */
export interface PricedCall {
  readonly workspaceId: string;
  /** Provider type. */
  readonly provider: string;
  /** Slug of the stored provider. */
  readonly slug: string | null;
  readonly model: string;
}
