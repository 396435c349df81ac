import { GatewayError } from '../../core/contract/values/errors/errors.ts';
import type { Log } from '../../core/contract/values/log/log.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { BlockedAddress, CallError } from './checks/call-service.ts';
import type { Outcome, Subject } from './checks/check.ts';

type Run = (subject: Subject) => Maybe<Outcome>;

/**
 * Returns the check with a log line for each run that could not decide. Results in replies name no reason, because callers may not see
 * addresses of services.
 */
export function logFailures(run: Run, check: string, log: Log | undefined): Run {
  if (log === undefined) return run;
  const write = ({ ctx }: Subject, reason: string): void => {
    log.warn({ requestId: ctx.id, check, reason }, 'a guardrail check could not run');
  };
  const failed = (subject: Subject, thrown: unknown): never => {
    write(subject, reasonOf(thrown));
    throw thrown;
  };
  const ended = (subject: Subject, outcome: Outcome): Outcome => {
    if (outcome.error !== undefined) write(subject, outcome.reason ?? `${outcome.error.name}: ${outcome.error.message}`);
    return outcome;
  };
  return (subject) => {
    try {
      const outcome = run(subject);
      if (!isPromise(outcome)) return ended(subject, outcome);
      return outcome.then(
        (settled) => ended(subject, settled),
        (thrown) => failed(subject, thrown),
      );
    } catch (thrown) {
      return failed(subject, thrown);
    }
  };
}

/** Messages of other errors can quote what a service sent, so that their name stands alone. */
function reasonOf(thrown: unknown): string {
  const isOwn = thrown instanceof CallError || thrown instanceof BlockedAddress || thrown instanceof GatewayError;
  if (!(thrown instanceof Error)) return 'unknown';
  if (!isOwn) return thrown.name;
  return thrown instanceof CallError ? thrown.reason : thrown.message;
}
