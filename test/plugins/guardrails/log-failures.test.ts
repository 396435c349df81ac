import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { CallError, callFailed, callService } from '../../../plugins/guardrails/checks/call-service.ts';
import type { Outcome, Subject } from '../../../plugins/guardrails/checks/check.ts';
import { logFailures } from '../../../plugins/guardrails/log-failures.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';

const subject = { ctx: { id: 'r-1' } } as Subject;
const refused = new GatewayError('upstream_connect');
const unreachable = () => callService({ fetch: () => Promise.reject(refused) } as never, call);
const call = { url: 'https://keys.example.com/jwks?key=secret', headers: [], timeoutMs: 5_000 };
const throws = (thrown: unknown) => () => {
  throw thrown;
};

describe('the log line of a check that could not run', () => {
  it.each<[string, () => Outcome | Promise<Outcome>, string]>([
    ['throws', throws(new CallError('HttpError', 'status 404')), 'HttpError: status 404'],
    ['cannot reach a service', unreachable as never, 'keys.example.com: upstream_connect'],
    ['rejects', () => Promise.reject(new CallError('HttpError', 'status 500')), 'HttpError: status 500'],
    ['returns an error', () => callFailed(new CallError('HttpError', 'status 500'), null), 'HttpError: status 500'],
    ['throws what could quote a reply', throws(new SyntaxError('Unexpected token: my secret')), 'SyntaxError'],
  ])('holds request, check and reason if it %s', async (_, run, reason) => {
    const log = newMemoryLog();
    const outcome = Promise.resolve().then(() => logFailures(run, 'default.jwt', log)(subject));
    await outcome.catch(() => null);
    expect(log.lines).toEqual([
      { level: 'warn', fields: { requestId: 'r-1', check: 'default.jwt', reason }, message: 'a guardrail check could not run' },
    ]);
  });

  it('is not written for a verdict, and errors still reach the guardrail', async () => {
    const log = newMemoryLog();
    const verdict = { verdict: false, data: null };
    expect(logFailures(() => verdict, 'a', log)(subject)).toBe(verdict);
    expect(log.lines).toEqual([]);
    expect(() => logFailures(throws(refused), 'a', log)(subject)).toThrow(refused);
    await expect(logFailures(() => Promise.reject(refused), 'a', log)(subject)).rejects.toBe(refused);
  });
});
