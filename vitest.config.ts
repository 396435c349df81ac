import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests start real servers and processes; two cores carry two files at a time.
    pool: 'forks',
    maxWorkers: 2,
    // TEST_REPORT=<file> also leaves the counts there, for the script that runs everything.
    reporters: process.env.TEST_REPORT ? ['default', ['json', { outputFile: process.env.TEST_REPORT }]] : ['default'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
