import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests start real servers and processes; two cores carry two files at a time.
    pool: 'forks',
    maxWorkers: 2,
    // TEST_REPORT=<file> also leaves the counts there, for the script that runs everything.
    reporters: process.env.TEST_REPORT ? ['default', ['json', { outputFile: process.env.TEST_REPORT }]] : ['default'],
    // Hundreds of real processes on a busy machine: one second look, which the report shows as `retry x1`.
    retry: process.env.CI ? 1 : 0,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
