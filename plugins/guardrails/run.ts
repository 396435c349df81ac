import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Clock } from '../../core/contract/values/clock.ts';
import { GatewayError } from '../../core/contract/values/errors.ts';
import { isPromise, type JsonObject, type Maybe } from '../../core/contract/values/json.ts';
import type { Outcome, Side, Subject } from './checks/check.ts';
import type { Guardrail, PreparedCheck } from './compile.ts';
import { after, all } from './maybe.ts';
import { hasText, type Scope, textParts } from './texts.ts';

/** The result of one guardrail. */
export interface GuardrailResult {
  readonly guardrail: Guardrail;
  readonly verdict: boolean;
  readonly checks: readonly CheckResult[];
  readonly durationMs: number;
  readonly createdAtMs: number;
}

export interface CheckResult extends Outcome {
  readonly id: string;
  /** True if an error of the check counts as failed. */
  readonly failOnError: boolean;
  /** True if the check passed, or could not decide and errors count as passed. */
  readonly passed: boolean;
  readonly durationMs: number;
  readonly createdAtMs: number;
}

export interface SideResult {
  /** Synchronous guardrails, in the order of the config. */
  readonly results: readonly GuardrailResult[];
  /** The body after all changes; the given one if nothing was changed. */
  readonly body: JsonObject;
}

/**
 * Runs the synchronous guardrails of one side on a body. All start at once. Checks that can change the body run one after the other, so that
 * no replacement undoes another one; all other checks judge the body as it came. A body of null cannot be read: checks that read text cannot
 * run. Never throws or rejects.
 */
export function runGuardrails(
  guardrails: readonly Guardrail[],
  ctx: RequestContext,
  given: JsonObject | null,
  clock: Clock,
): Maybe<SideResult> {
  const body = given ?? {};
  let chain: Maybe<JsonObject> = body;
  const subjects = new Map<Scope, Subject>();
  const subjectOf = (check: PreparedCheck, side: Side): Subject => {
    const subject = subjects.get(check.scope) ?? toSubject(ctx, side, body, check.scope);
    subjects.set(check.scope, subject);
    return subject;
  };
  const pending = guardrails.map((guardrail): Maybe<GuardrailResult> => {
    const beganMs = clock.elapsed();
    const run = (check: PreparedCheck): Maybe<CheckResult> => {
      if (given === null && !check.readsNoText) return cannotRun(check, guardrail, 'The body cannot be read', clock);
      if (!check.isChained) return runCheck(check, guardrail, subjectOf(check, guardrail.side), clock);
      const result = after(chain, (current) =>
        runCheck(check, guardrail, toSubject(ctx, guardrail.side, current, check.scope), clock),
      );
      chain = after(chain, (current) => after(result, (done) => done.body ?? current));
      return result;
    };
    const { side } = guardrail;
    const relevant = guardrail.checks.filter((check) => check.readsNoText || side === 'start' || hasText(ctx, side));
    return after(all(relevant.map(run)), (checks) => ({
      guardrail,
      verdict: checks.every(({ passed }) => passed),
      checks,
      durationMs: clock.elapsed() - beganMs,
      createdAtMs: clock.now(),
    }));
  });
  return after(all(pending), (results) => after(chain, (changed) => ({ results, body: changed })));
}

function toSubject(ctx: RequestContext, side: Side, body: JsonObject, scope: Scope): Subject {
  const operation = ctx.endpoint?.operation ?? null;
  const isStart = side === 'start';
  const parts = isStart ? [] : textParts(operation, side, body, scope);
  return {
    ctx,
    side,
    body,
    operation,
    requestType: ctx.endpoint?.name ?? '',
    model: isStart ? null : ctx.model,
    metadata: ctx.metadata,
    parts,
    text: parts.map(({ text }) => text).join('\n'),
  };
}

/**
 * A check that cannot decide (there is no text) counts as passed unless `failOnError` is set. A check that could not run at all (no worker
 * thread, an exception) counts as failed in a guardrail that denies, unless `failOnError` is false.
 */
function runCheck(check: PreparedCheck, guardrail: Guardrail, subject: Subject, clock: Clock): Maybe<CheckResult> {
  const beganMs = clock.elapsed();
  const decided = (outcome: Outcome): CheckResult => {
    if (outcome.body === undefined) return conclude(check, outcome, check.failOnError ?? false, beganMs, clock);
    if (subject.side === 'start') return cannotRun(check, guardrail, 'Start hooks cannot change the body', clock);
    if (subject.operation === null) return cannotRun(check, guardrail, 'Pass-through bodies cannot be changed', clock);
    return conclude(check, outcome, check.failOnError ?? false, beganMs, clock);
  };
  const broken = (thrown: unknown): CheckResult => cannotRun(check, guardrail, reasonOf(thrown), clock, beganMs);
  try {
    const outcome = check.run(subject);
    return isPromise(outcome) ? outcome.then(decided, broken) : decided(outcome);
  } catch (thrown) {
    return broken(thrown);
  }
}

function cannotRun(
  check: PreparedCheck,
  { deny }: Guardrail,
  message: string,
  clock: Clock,
  beganMs = clock.elapsed(),
): CheckResult {
  const outcome = { verdict: false, data: null, error: { name: 'Check error', message } };
  return conclude(check, outcome, check.failOnError ?? deny, beganMs, clock);
}

function conclude({ id }: PreparedCheck, outcome: Outcome, failOnError: boolean, beganMs: number, clock: Clock): CheckResult {
  return {
    ...outcome,
    id,
    failOnError,
    passed: outcome.error === undefined ? outcome.verdict : !failOnError,
    durationMs: clock.elapsed() - beganMs,
    createdAtMs: clock.now(),
  };
}

function reasonOf(thrown: unknown): string {
  const isOverloaded = thrown instanceof GatewayError && thrown.code === 'overloaded';
  return isOverloaded ? 'The check did not run because the gateway is overloaded' : 'Error executing check';
}
