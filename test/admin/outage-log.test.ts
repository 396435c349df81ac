import { describe, expect, it, vi } from 'vitest';
import type { DatabaseProblem } from '../../admin/database-problem.ts';
import { failureFields } from '../../admin/failure-fields.ts';
import { createOutageLog } from '../../admin/outage-log.ts';
import { newMemoryLog } from '../support/fakes/memory-log.ts';

const refused = { ...failureFields(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })) };
const bug = { ...failureFields(new TypeError('x is not a function')) };

describe('log of an outage of the database', () => {
  it.each<[DatabaseProblem, string]>([
    ['unreachable', 'the database cannot be reached'],
    ['read-only', 'the database is read-only'],
  ])('%s: one line at the beginning and one at the end, none for each failed request', async (problem, beginning) => {
    const memory = newMemoryLog();
    let found: DatabaseProblem | null = problem;
    const log = createOutageLog(memory, async () => found, 5);
    const messages = () => memory.lines.map(({ message }) => message);
    log.error(refused, 'admin request failed');
    await vi.waitFor(() => expect(messages()).toEqual(['admin request failed', expect.stringContaining(beginning)]));
    for (let at = 0; at < 50; at++) log.error(refused, 'admin request failed');
    log.warn(refused, 'could not read pending jobs');
    log.error(bug, 'admin request failed');
    log.info({}, 'request rejected');
    expect(messages().slice(2)).toEqual(['admin request failed', 'request rejected']);
    found = null;
    await vi.waitFor(() =>
      expect(memory.lines.at(-1)).toMatchObject({ message: 'the database works again', fields: { omitted: 51 } }),
    );
    log.error(refused, 'admin request failed');
    expect(messages().at(-1)).toBe('admin request failed');
    log.close();
  });

  it.each([
    ['full', '53100', 'could not extend file'],
    ['read-only', '42501', 'could not open file "base/5/2619": Read-only file system'],
    ['failing', '58030', 'could not write to file "base/5/2619": Input/output error'],
  ])(
    'a disk of the database that is %s: one line at the beginning and one at the end, although reads succeed',
    async (problem, code, text) => {
      const memory = newMemoryLog();
      let checks = 0;
      let endWait = () => {};
      const logged = new Promise<void>((resolve) => {
        endWait = resolve;
      });
      // The outage lasts ten checks. All but the first wait until the failures are logged.
      const check = async () => {
        if (++checks > 1) await logged;
        return null;
      };
      const log = createOutageLog(memory, check, 5);
      const full = failureFields(Object.assign(new Error(text), { code, severity: 'ERROR' }));
      expect(full.reason).toBe(`the disk of the database is ${problem}`);
      log.error(full, 'admin request failed');
      await vi.waitFor(() => expect(memory.lines.at(-1)?.message).toMatch(/^the disk of the database is /));
      expect(log.diskProblem()).toMatch(/^disk-/);
      for (let at = 0; at < 50; at++) log.error(full, 'admin request failed');
      endWait();
      await vi.waitFor(() =>
        expect(memory.lines.at(-1)).toMatchObject({ message: 'the database works again', fields: { omitted: 50 } }),
      );
      expect(memory.lines.length).toBe(3);
      expect(log.diskProblem()).toBeNull();
      log.close();
    },
  );

  it('failures while the database can be reached are ten lines per minute, then one with the number of others', async () => {
    const memory = newMemoryLog();
    const check = vi.fn(async () => null);
    const log = createOutageLog(memory, check, 5, 100);
    const slow = failureFields(new Error('Query read timeout'));
    for (let at = 1; at <= 3; at++) {
      for (let failure = 0; failure < 6; failure++) log.error(slow, 'admin request failed');
      await vi.waitFor(() => expect(check.mock.calls.length).toBeGreaterThanOrEqual(at), { interval: 1 });
    }
    await vi.waitFor(() => expect(memory.lines.at(-1)?.message).toMatch(/^similar lines omitted.*pg_stat_activity/));
    expect(memory.lines.at(-1)?.fields).toEqual({ omitted: 8 });
    expect(memory.lines.length).toBe(11);
    expect(memory.lines[0]?.fields).toMatchObject({ reason: expect.stringContaining('did not reply to a query in time') });
    log.error(slow, 'admin request failed');
    expect(memory.lines.length).toBe(12);
    log.close();
  });

  it('failures of other hosts are logged while the database works', async () => {
    const memory = newMemoryLog();
    const check = vi.fn(async () => null);
    const log = createOutageLog(memory, check, 5);
    for (let at = 1; at <= 3; at++) {
      log.error(refused, 'could not send a mail');
      await vi.waitFor(() => expect(check).toHaveBeenCalledTimes(at));
    }
    expect(memory.lines.map(({ message }) => message)).toEqual(Array(3).fill('could not send a mail'));
  });
});
