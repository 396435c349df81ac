import { defineConfig } from 'vitest/config';

/**
 * Tests that leave nothing behind: they need no process each, which would cost as much as they do. Those of identities do, because
 * what a machine says of itself is asked once per process. Control planes under test share the compiled embedded database.
 */
const plain = [
  'test/admin/**/*.test.ts',
  'test/core/contract/**/*.test.ts',
  'test/core/providers/**/!(*auth*|*identity*).test.ts',
  'test/plugins/**/*.test.ts',
  'test/config/**/*.test.ts',
];

export default defineConfig({
  test: {
    // Tests start real servers and processes, and often wait for them: two cores carry three files at a time.
    pool: 'forks',
    maxWorkers: 3,
    // TEST_REPORT=<file> also leaves the counts there, for the script that runs everything.
    reporters: process.env.TEST_REPORT ? ['default', ['json', { outputFile: process.env.TEST_REPORT }]] : ['default'],
    projects: [
      { extends: true, test: { name: 'plain', include: plain, isolate: false } },
      { extends: true, test: { name: 'whole', include: ['test/**/*.test.ts'], exclude: plain } },
    ],
    // Hundreds of real processes on a busy machine: one second look, which the report shows as `retry x1`.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
