import { expect, it } from 'vitest';
import { requirements, skippedSummary } from './skipped-tests-reporter.ts';

it('skipped tests: prints the count and how to enable the tests of each missing program', () => {
  const summary = skippedSummary(3, requirements);
  expect(summary.split('\n')[0]).toBe('3 tests skipped');
  expect(summary).toContain('TEST_DATABASE_URL=postgresql://');
  expect(summary).toContain('apt-get install nats-server');
  expect(summary).toContain('apt-get install gcc');
});

it('skipped tests: prints one line if nothing is missing', () => {
  expect(skippedSummary(0, [])).toBe('0 tests skipped');
});
