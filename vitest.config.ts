import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import sources from './test/support/runner/package-sources.json' with { type: 'json' };
import { SkippedTestsReporter } from './test/support/runner/skipped-tests-reporter.ts';

/** Tests that need neither a database nor a second process: `npm run test:unit`. */
const unit = [
  'test/core/!(realtime|supervisor)/**/*.test.ts',
  'test/core/*.test.ts',
  'test/plugins/**/*.test.ts',
  'test/config/**/*.test.ts',
  'test/support/**/*.test.ts',
  'test/*.test.ts',
];
/** Tests below the folders of `unit` that start processes, wait for long deadlines, or go through tables and random input for seconds of CPU each. */
const slow = [
  'test/core/compose/request-log.test.ts',
  'test/core/http/{deadlines,forced-short-writes,framing-guard,write-reply}.test.ts',
  'test/core/journal/{shipper,spool}.test.ts',
  'test/core/log/log.test.ts',
  'test/core/mcp/peers/peers-nats.test.ts',
  'test/core/pipeline/strategy-matrix.test.ts',
  'test/core/plugin-host/load-plugins.test.ts',
  'test/core/prompts/fuzz-templates.test.ts',
  'test/core/provider-host/load-providers.test.ts',
  'test/core/providers/matrix/*.test.ts',
  'test/core/secret-managers/gateway.test.ts',
  'test/core/telemetry/metrics-ipc.test.ts',
  'test/plugins/guardrails/{evasion,matrix,retained-requests,window}.test.ts',
  'test/config/generators/**/*.test.ts',
];

/** Tests that start the product, other processes or long runs. */
const system = ['test/{bench,e2e,failure-table,workers}/**/*.test.ts', 'test/core/{realtime,supervisor}/**/*.test.ts', ...slow];

/** Files that share a process save its start and the compilation of what they import. */
const project = (name: string, include: string[], exclude: string[] = []) => ({
  extends: true as const,
  test: { name, include, exclude, isolate: false },
});

/** Plugins in the repository import the package by its name, which leads to a build. Tests run the sources. */
const alias = Object.fromEntries(Object.entries(sources).map(([name, path]) => [name, join(import.meta.dirname, path)]));

export default defineConfig({
  resolve: { alias },
  test: {
    // Tests start servers and processes and often wait for them, so two cores carry four files at a time. Every process compiles the same code:
    // 451 tests of the control plane took 94 CPU s in two processes, 101 in three and 110 to 124 in five.
    pool: 'forks',
    maxWorkers: 4,
    // The first was measured on 735 tests of the control plane in turn: 102 and 99 CPU s with it, 109 and 117 without. The second is the default of Node 24
    // and makes AsyncLocalStorage of MikroORM cheaper: 45, 46 and 36 CPU s for 169 tests with it, 47, 45 and 39 without.
    execArgv: ['--require', `${import.meta.dirname}/test/support/runner/cheap-start.cjs`, '--experimental-async-context-frame'],
    // The projects import the same sources, and each would transform them again. Later runs transform only what has changed.
    fsModuleCache: true,
    globalSetup: ['test/support/runner/test-run.ts'],
    // TEST_REPORT=<file> also writes the counts there, for .ci/run.
    reporters: process.env.TEST_REPORT
      ? ['default', ['json', { outputFile: process.env.TEST_REPORT }], new SkippedTestsReporter()]
      : ['default', new SkippedTestsReporter()],
    projects: [project('unit', unit, slow), project('admin', ['test/admin/**/*.test.ts']), project('system', system)],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
